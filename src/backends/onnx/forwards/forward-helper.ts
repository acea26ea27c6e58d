import { type EventEmitter, once } from "node:events";
import { Worker } from "node:worker_threads";
import { arraysOf } from "../../tensors/key-values.ts";
import type { TreeShape } from "../../tensors/tree-model.ts";
import type { ForwardResult } from "./forward-runner.ts";
import type { Round } from "./taken-tasks.ts";

/** The graph that a thread loads. */
export interface ThreadSettings {
  /** Bytes of the ONNX file, or its path. */
  readonly graph: Uint8Array | string;
  readonly shape: TreeShape;
  /** Whether the thread runs small forwards only, and so has a heap of its own. */
  readonly isForSmall: boolean;
}

/** A thread's message after it has loaded the graph, and after each round. */
export type RoundReply =
  | { readonly results: ReadonlyMap<number, ForwardResult> }
  | { readonly message: string };

/** The `.ts` file when running from source, the `.js` file when compiled. */
const entry = new URL(`./forward-thread${import.meta.url.slice(-3)}`, import.meta.url);

/** Module hooks do not apply to new threads. When running from source, each thread must register tsx itself. */
function startThread(workerData: ThreadSettings): Worker {
  if (!entry.pathname.endsWith(".ts")) return new Worker(entry, { workerData, execArgv: [] });
  const [tsx, program] = [import.meta.resolve("tsx/esm/api"), entry.href].map((url) => JSON.stringify(url));
  const code = `import(${tsx}).then(({ register }) => (register(), import(${program})))`;
  return new Worker(code, { eval: true, workerData, execArgv: [] });
}

/**
 * The caller's handle of a worker thread that runs forwards. The thread computes rounds in the order in which it gets them.
 * It keeps the process alive only while a result is awaited.
 */
export class ForwardHelper {
  readonly #worker: Worker;
  /** Receivers of the next replies, in the order of the rounds. */
  readonly #receivers: ((reply: RoundReply) => void)[] = [];

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (reply: RoundReply) => {
      this.#receivers.shift()?.(reply);
      if (this.#receivers.length === 0) worker.unref();
    });
    worker.unref(); // only now, because a new listener keeps the process alive
  }

  /** Resolves when the thread has loaded the graph. */
  static async start(settings: ThreadSettings): Promise<ForwardHelper> {
    const worker = startThread(settings);
    await once(worker, "message"); // or an error, with which this rejects
    endWith(worker);
    return new ForwardHelper(worker);
  }

  /** Rounds without a reply. */
  get waiting(): number {
    return this.#receivers.length;
  }

  /** @param round ownership of its keys and values moves to the helper */
  run(round: Round): Promise<ReadonlyMap<number, ForwardResult>> {
    const transfer = [...round.known.values()].flatMap(arraysOf).map(({ buffer }) => buffer);
    this.#worker.postMessage(round, transfer);
    return this.#reply();
  }

  async #reply(): Promise<ReadonlyMap<number, ForwardResult>> {
    this.#worker.ref();
    const reply = await new Promise<RoundReply>((resolve) => this.#receivers.push(resolve));
    if ("results" in reply) return reply.results;
    throw new Error(reply.message);
  }
}

/** Ends the process when the thread ends, so that it is restarted. Otherwise callers would wait for the thread forever. */
export function endWith(thread: EventEmitter): void {
  for (const event of ["exit", "messageerror", "error"]) {
    thread.once(event, (cause: unknown) => {
      throw new Error("a forward thread ended", { cause });
    });
  }
}
