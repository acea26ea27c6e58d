import type { Node } from "../../../inference/nodes.ts";
import { type Forward, type ForwardTask, keyCount, newTokens, pastNodes } from "../../tensors/forward.ts";
import { arraysOf, byteLength, copyOf, type KeyValues } from "../../tensors/key-values.ts";
import type { TreeModel, TreeShape } from "../../tensors/tree-model.ts";
import type { Place } from "../runtime/session-options.ts";
import { type Encoded, type ForwardResult, ForwardRunner } from "./forward-runner.ts";
import { type Results as ByIndex, gather, newCounter, takeTasks, WorkerThread } from "./worker-thread.ts";

/** Maximum bytes of keys and values copied to a worker per round. Chosen: a state of 2,048 tokens has 38 MB with the embedded model. */
const MOST_COPIED_BYTES = 64 << 20;

/**
 * How tasks use the processors:
 *
 * - side by side: each forward in one worker. Several calls may be under way: their tasks are taken in the order of the calls, and a
 *   worker that finds no task left of one call goes on with the next. The caller's thread stays free to receive more work.
 * - together: one call at a time has all processors. Forwards run in all threads, one after another, where this saves more time than
 *   the others take. The others run side by side, and the caller's thread takes the place of the last worker, which saves a copy of
 *   keys and values.
 */
export type Mode = "side by side" | "together";

type Results = ReadonlyMap<ForwardTask, ForwardResult>;

/**
 * Runs forwards on several processors.
 *
 * Parallel forwards are preferred, because threads that share a forward synchronize at each of its about 400 kernels. A run blocks its
 * JavaScript thread, so each parallel forward needs a worker thread. There is one for each processor. The last worker only runs small
 * forwards, and its session has a heap of its own: with two processors, no buffer of small forwards moves between their caches.
 */
export class WorkerPool {
  readonly #inAllThreads: ForwardRunner;
  readonly #own: ForwardRunner;
  readonly #workers: readonly PoolWorker[];

  private constructor(inAllThreads: ForwardRunner, own: ForwardRunner, workers: readonly PoolWorker[]) {
    this.#inAllThreads = inAllThreads;
    this.#own = own;
    this.#workers = workers;
  }

  /**
   * @param graph bytes of the ONNX file, or its path
   * @param model shape of the model, for the workers
   * @param place only for a model with one thread
   */
  static async start(graph: Uint8Array | string, model: TreeModel, place?: Place): Promise<WorkerPool> {
    const inAllThreads = await ForwardRunner.load(graph, model, model.threads, place);
    const count = model.forwardThreads;
    if (count === 1) return new WorkerPool(inAllThreads, inAllThreads, []);
    // only now: threads inherit the denormal setting of the process's first session
    const [own, ...workers] = await Promise.all([
      model.threads === 1 ? inAllThreads : ForwardRunner.load(graph, model, 1),
      ...Array.from({ length: count }, (_, at) =>
        startWorker({ graph, shape: model.shape, isForSmall: at === count - 1 }),
      ),
    ]);
    return new WorkerPool(inAllThreads, own, workers);
  }

  /** Number of forwards that may run in parallel. */
  get count(): number {
    return Math.max(1, this.#workers.length);
  }

  /** Whether tasks can run side by side. */
  get hasWorkers(): boolean {
    return this.#workers.length > 0;
  }

  /**
   * @param tasks   at least one; independent of each other. Side by side only small ones, because their keys and values are copied
   * @param encoded keys and values of the past nodes of the tasks
   */
  run(tasks: readonly ForwardTask[], encoded: Encoded, mode: Mode): Promise<Results> {
    return mode === "together" ? this.#runTogether(tasks, encoded) : this.#runSideBySide(tasks, encoded);
  }

  async #runTogether(tasks: readonly ForwardTask[], encoded: Encoded): Promise<Results> {
    const { inAllThreads, sideBySide, needed } = shareOut(tasks, encoded);
    const round = { tasks: sideBySide, next: newCounter() };
    const workers = this.#workers.slice(0, Math.max(0, Math.min(sideBySide.length, this.count) - 1));
    const answers = workers.map((worker) =>
      runRound(worker, { ...round, encoded: copiesOf(needed, encoded) }),
    );
    const results = new Map<ForwardTask, ForwardResult>();
    for (const part of await Promise.allSettled([runTasks(this.#own, { ...round, encoded }), ...answers])) {
      if (part.status === "rejected") throw part.reason;
      for (const [at, result] of part.value) results.set(sideBySide[at] as ForwardTask, result);
    }
    for (const task of inAllThreads) results.set(task, await this.#inAllThreads.run(task, encoded));
    return results;
  }

  async #runSideBySide(tasks: readonly ForwardTask[], encoded: Encoded): Promise<Results> {
    const ordered = longestFirst(tasks);
    const needed = new Set(ordered.flatMap(({ forward }) => pastNodes(forward)));
    const round = { tasks: ordered, next: newCounter() };
    const workers = needed.size === 0 ? this.#workers : this.#leastBusy(ordered.length);
    const runs = workers.map((worker) => runRound(worker, { ...round, encoded: copiesOf(needed, encoded) }));
    const results = await gather(runs, ordered.length);
    return new Map([...results].map(([at, result]) => [ordered[at] as ForwardTask, result]));
  }

  #leastBusy(count: number): readonly PoolWorker[] {
    return [...this.#workers].sort((a, b) => a.waiting - b.waiting).slice(0, count);
  }
}

/** Number of keys whose attention costs a query as much time as the linear layers. Measured with the embedded model. */
const KEYS_OF_A_TOKEN = 600;
/** Estimated time of a forward, in arbitrary units. */
const costOf = ({ forward }: ForwardTask) => newTokens(forward) * (KEYS_OF_A_TOKEN + keyCount(forward));

/** A forward with at least this many keys counts as large. Chosen. */
const MANY_KEYS = 256;
/** Share of its time that a forward saves when all threads share it. Measured on 2 processors with 1,000 and with 46 tokens. */
const SAVED = { large: 0.34, small: 0.13 };
const savedBySharing = (task: ForwardTask) =>
  costOf(task) * (keyCount(task.forward) >= MANY_KEYS ? SAVED.large : SAVED.small);

/**
 * Splits tasks into those that run in all threads, and those that run side by side, longest first, with the nodes that they need. A
 * task runs in all threads if that saves more time than the remaining tasks take, or if its keys and values are too large to copy.
 */
export function shareOut(
  tasks: readonly ForwardTask[],
  encoded: Encoded,
): {
  readonly inAllThreads: readonly ForwardTask[];
  readonly sideBySide: readonly ForwardTask[];
  readonly needed: ReadonlySet<Node>;
} {
  const ordered = longestFirst(tasks);
  const inAllThreads: ForwardTask[] = [];
  let rest = tasks.reduce((sum, task) => sum + costOf(task), 0);
  for (let longest = ordered[0]; longest; longest = ordered[0]) {
    rest -= costOf(longest);
    if (savedBySharing(longest) <= rest) break;
    inAllThreads.push(longest);
    ordered.shift();
  }
  const needed = new Set<Node>();
  let bytes = 0;
  const sideBySide = ordered.filter((task) => {
    const more = pastNodes(task.forward).filter((node) => !needed.has(node));
    const added = more.reduce((sum, node) => sum + bytesOf(encoded.get(node)), 0);
    const fits = bytes + added <= MOST_COPIED_BYTES;
    if (!fits) inAllThreads.push(task);
    for (const node of fits ? more : []) needed.add(node);
    bytes += fits ? added : 0;
    return fits;
  });
  return { inAllThreads, sideBySide, needed };
}

const longestFirst = (tasks: readonly ForwardTask[]) => [...tasks].sort((a, b) => costOf(b) - costOf(a));

/** Whether forwards run in parallel without loss: they are independent, and none is large. */
export function areSmall(rounds: readonly (readonly Forward[])[]): boolean {
  return rounds.length === 1 && rounds.flat().every((forward) => keyCount(forward) < MANY_KEYS);
}

const bytesOf = (keyValues: KeyValues | undefined) => (keyValues ? byteLength(keyValues) : 0);

function copiesOf(nodes: ReadonlySet<Node>, encoded: Encoded): Encoded {
  const copies = new Map<Node, KeyValues>();
  for (const node of nodes) {
    const keyValues = encoded.get(node);
    if (keyValues) copies.set(node, copyOf(keyValues));
  }
  return copies;
}

/** Independent tasks for several threads. Each thread has a copy of this object. */
export interface Round {
  readonly tasks: readonly ForwardTask[];
  readonly encoded: Encoded;
  /** Shared memory: Int32 index of the next free task. */
  readonly next: SharedArrayBuffer;
}

export type RoundResults = ByIndex<ForwardResult>;

/** Takes tasks until none is left. */
export const runTasks = (runner: ForwardRunner, { tasks, encoded, next }: Round): Promise<RoundResults> =>
  takeTasks(next, tasks, (task) => runner.run(task, encoded));

/** The graph that a worker loads. */
export interface WorkerSettings {
  /** Bytes of the ONNX file, or its path. */
  readonly graph: Uint8Array | string;
  readonly shape: TreeShape;
  /** Whether the worker runs small forwards only, and so has a heap of its own. */
  readonly isForSmall: boolean;
}

type PoolWorker = WorkerThread<Round, RoundResults>;

const startWorker = (settings: WorkerSettings): Promise<PoolWorker> => WorkerThread.start("worker", settings);

/** @param round ownership of its keys and values moves to the worker */
function runRound(worker: PoolWorker, round: Round): Promise<RoundResults> {
  const transfer = [...round.encoded.values()].flatMap(arraysOf).map(({ buffer }) => buffer);
  return worker.run(round, transfer);
}
