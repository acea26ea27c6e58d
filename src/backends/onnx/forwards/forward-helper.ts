import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { arraysOf } from "../tensors/key-values.ts";
import type { TreeShape } from "../tensors/tree-model.ts";
import type { ForwardResult } from "./forward-runner.ts";
import type { Round } from "./taken-tasks.ts";

/** What a thread loads. */
export interface ThreadSettings {
  /** Bytes of the ONNX file, or its path. */
  readonly graph: Uint8Array | string;
  readonly shape: TreeShape;
}

/** What a thread sends when it has loaded the graph, and after each round. */
export type RoundReply =
  | { readonly results: ReadonlyMap<number, ForwardResult> }
  | { readonly message: string };

/** The `.ts` file in a checkout that runs from source, the `.js` file once compiled. */
const entry = new URL(`./forward-thread${import.meta.url.slice(-3)}`, import.meta.url);

/** What makes modules readable to this thread does not reach new ones: from source, each has to be told how to read TypeScript. */
function startThread(workerData: ThreadSettings): Worker {
  if (!entry.pathname.endsWith(".ts")) return new Worker(entry, { workerData, execArgv: [] });
  const [tsx, program] = [import.meta.resolve("tsx/esm/api"), entry.href].map((url) => JSON.stringify(url));
  const code = `import(${tsx}).then(({ register }) => (register(), import(${program})))`;
  return new Worker(code, { eval: true, workerData, execArgv: [] });
}

/** A thread that runs forwards beside its caller's, as the caller sees it. Only while it is waited for does it keep the process alive. */
export class ForwardHelper {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** Resolves when it has loaded the graph. */
  static async start(settings: ThreadSettings): Promise<ForwardHelper> {
    const helper = new ForwardHelper(startThread(settings));
    await helper.#reply();
    helper.#worker.once("exit", lost).once("messageerror", lost);
    return helper;
  }

  /** One round at a time. @param round whose keys and values are the helper's from now on */
  run(round: Round): Promise<ReadonlyMap<number, ForwardResult>> {
    const transfer = [...round.known.values()].flatMap(arraysOf).map(({ buffer }) => buffer);
    this.#worker.postMessage(round, transfer);
    return this.#reply();
  }

  async #reply(): Promise<ReadonlyMap<number, ForwardResult>> {
    this.#worker.ref();
    try {
      const [reply]: RoundReply[] = await once(this.#worker, "message");
      if (reply && "results" in reply) return reply.results;
      throw new Error(reply?.message ?? "a thread sent nothing");
    } finally {
      this.#worker.unref();
    }
  }
}

/** Ends the process, which is then replaced: whoever waits for the thread would wait for ever. */
function lost(): never {
  throw new Error("a thread that runs forwards has ended");
}
