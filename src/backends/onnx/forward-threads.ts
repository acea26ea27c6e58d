import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Node } from "./forward.ts";
import { shareOut } from "./forward-rounds.ts";
import { type ForwardResult, ForwardRunner, type ForwardTask, type Known } from "./forward-runner.ts";
import { arraysOf, copyOf, type KeyValues } from "./key-values.ts";
import { type Round, runTaken } from "./taken-tasks.ts";
import type { TreeModel, TreeShape } from "./tree-model.ts";

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

/**
 * Runs forwards on several processors: side by side, each in one thread, or a large one alone in all of them.
 *
 * Side by side is better where it can be had: threads that share a forward have to meet at each of its some four hundred kernels.
 * On two processors they take 0.75 to 1.3 times as long together as one alone, whereas two forwards side by side take no longer than one
 * (measured). JavaScript waits while kernels run, so each needs a thread of its own; the first is the caller's.
 */
export class ForwardThreads {
  readonly #together: ForwardRunner;
  readonly #own: ForwardRunner;
  readonly #helpers: readonly Helper[];

  private constructor(together: ForwardRunner, own: ForwardRunner, helpers: readonly Helper[]) {
    this.#together = together;
    this.#own = own;
    this.#helpers = helpers;
  }

  /** @param graph bytes of the ONNX file, or its path */
  static async start(graph: ThreadSettings["graph"], model: TreeModel): Promise<ForwardThreads> {
    const together = await ForwardRunner.load(graph, model, model.threads);
    if (model.forwardThreads === 1) return new ForwardThreads(together, together, []);
    // only now: threads take over what the process's first session sets about denormal numbers
    const settings = { graph, shape: model.shape };
    const helpers = Array.from({ length: model.forwardThreads - 1 }, () => Helper.start(settings));
    const own = await ForwardRunner.load(graph, model, 1);
    return new ForwardThreads(together, own, await Promise.all(helpers));
  }

  /** How many forwards may run at a time. */
  get count(): number {
    return 1 + this.#helpers.length;
  }

  /** @param tasks none of which needs another */
  async run(tasks: readonly ForwardTask[], known: Known): Promise<ReadonlyMap<ForwardTask, ForwardResult>> {
    const { alone, sideBySide } = shareOut(tasks);
    const results = await this.#runSideBySide(sideBySide, known);
    for (const task of alone) results.set(task, await this.#together.run(task, known));
    return results;
  }

  async #runSideBySide(
    tasks: readonly ForwardTask[],
    known: Known,
  ): Promise<Map<ForwardTask, ForwardResult>> {
    const round = { tasks, known, next: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT) };
    const helpers = this.#helpers.slice(0, Math.max(0, tasks.length - 1));
    const answers = helpers.map((helper) => helper.run(round));
    const parts = await Promise.allSettled([runTaken(this.#own, round), ...answers]);
    const results = new Map<ForwardTask, ForwardResult>();
    for (const part of parts) {
      if (part.status === "rejected") throw part.reason;
      for (const [number, result] of part.value) results.set(tasks[number] as ForwardTask, result);
    }
    return results;
  }
}

/** A thread as the caller sees it. What goes wrong in it while nobody waits for it ends the process. */
class Helper {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** Resolves when it has loaded the graph. */
  static async start(settings: ThreadSettings): Promise<Helper> {
    const helper = new Helper(startThread(settings));
    await helper.#reply();
    return helper;
  }

  async run({ tasks, known, next }: Round): Promise<ReadonlyMap<number, ForwardResult>> {
    const needed = tasks.flatMap(({ forward }) => [...forward.pastPrefix, ...forward.pastRest]);
    const copies = new Map<Node, KeyValues>();
    for (const node of new Set(needed)) {
      const keyValues = known.get(node);
      if (keyValues) copies.set(node, copyOf(keyValues));
    }
    const transfer = [...copies.values()].flatMap(arraysOf).map(({ buffer }) => buffer as ArrayBuffer);
    this.#worker.postMessage({ tasks, known: copies, next } satisfies Round, transfer);
    return this.#reply();
  }

  /** What it sends next. Only while it is waited for does it keep the process alive. */
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
