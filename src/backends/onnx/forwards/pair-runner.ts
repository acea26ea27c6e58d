import { messageOf } from "../../../errors.ts";
import type { BatchScores } from "../../../inference/backend.ts";
import { type Node, pathOf } from "../../../inference/nodes.ts";
import type { PairGraph } from "../../../models/architectures/architecture.ts";
import type { Place } from "../runtime/session-options.ts";
import { BatchSlots, type Slot } from "./batch-slots.ts";
import type { Runner } from "./model-runner.ts";
import { invalid, PairSession } from "./pair-session.ts";
import { gather, newCounter, type Results, takeTasks, WorkerThread } from "./worker-thread.ts";

/** Pairs for several threads. Each thread has a copy of this object. */
export interface PairTask {
  readonly pairs: readonly Int32Array[];
  /** See `takeTasks`. */
  readonly next: SharedArrayBuffer;
}

/** Logits by the pair's index. */
export type PairResults = Results<Float32Array>;

/** Computes pairs until none is left. */
export const runPairs = (session: PairSession, { pairs, next }: PairTask): Promise<PairResults> =>
  takeTasks(next, pairs, (pair) => session.run(pair));

/**
 * Scores pairs with a graph that knows no trees: each pair is one text in a run of its own. In a padded batch, bits would
 * depend on the other pairs, because nothing is known about the order of summation of such a graph.
 *
 * Runs side by side in one thread each take less time than runs in all threads one after another, which synchronize at each
 * kernel. This needs a session for each thread, and so a graph whose weights sessions share.
 */
export class PairRunner implements Runner {
  readonly #graph: PairGraph;
  /** Has all threads. Missing where its bits differ from those of one thread. */
  readonly #inAllThreads: PairSession | undefined;
  /** Each has one thread and a session. */
  readonly #workers: readonly WorkerThread<PairTask, PairResults>[];
  readonly #slots = new BatchSlots();

  private constructor(
    graph: PairGraph,
    inAllThreads: PairSession | undefined,
    workers: readonly WorkerThread<PairTask, PairResults>[],
  ) {
    this.#graph = graph;
    this.#inAllThreads = inAllThreads;
    this.#workers = workers;
  }

  /** @throws ServiceError INVALID_MODEL for a graph with other inputs or outputs, or one that the runtime rejects */
  static async load(graph: PairGraph, threads: number, place?: Place): Promise<PairRunner> {
    const inAllThreads = await PairSession.load(graph, threads, place);
    const samples = samplesOf(graph);
    // shapes are checked at the first run: they may be fixed or undeclared
    const logits: Float32Array[] = [];
    for (const ids of samples) {
      const found = await inAllThreads.run(ids).catch((cause: unknown) => {
        throw invalid(`cannot score a pair of ${ids.length} tokens: ${messageOf(cause)}`, cause);
      });
      logits.push(found);
    }
    if (threads === 1 || graph.sharesWeights !== true) return new PairRunner(graph, inAllThreads, []);
    // only now: threads inherit the denormal setting of the process's first session
    const workers = await Promise.all(
      Array.from({ length: threads }, () => WorkerThread.start<PairTask, PairResults>("pair-worker", graph)),
    );
    const alike = await workers[0]?.run({ pairs: samples, next: newCounter() });
    const hasSameBits = logits.every((each, at) => isSame(each, alike?.get(at)));
    return new PairRunner(graph, hasSameBits ? inAllThreads : undefined, workers);
  }

  get watchesParent(): boolean {
    return this.#workers.length > 0;
  }

  score(leaves: readonly Node[], isAlone = true): Promise<BatchScores> {
    return this.#slots.run((slot) => this.#score(leaves, slot, isAlone));
  }

  async #score(leaves: readonly Node[], slot: Slot, isAlone: boolean): Promise<BatchScores> {
    const { readings, scale } = this.#graph;
    // the two answers to a yes/no question are neighbours
    const pairs: Int32Array[] = [];
    const read = leaves.map((leaf) => {
      const { ids, isSecond } = plainIds(Int32Array.from(pathOf(leaf).flatMap(({ tokens }) => [...tokens])));
      if (!isSame(ids, pairs.at(-1))) pairs.push(ids);
      return { pair: pairs.length - 1, reading: readings[isSecond ? 1 : 0] };
    });
    const logits = await this.#run(pairs, slot, isAlone);
    const scores = read.map(({ pair, reading }) =>
      reading === null ? 0 : (logits.get(pair)?.[reading ?? -1] ?? Number.NaN) * scale,
    );
    return { scores: Float32Array.from(scores), forwards: pairs.length };
  }

  /** @returns logits by the pair's index */
  async #run(pairs: readonly Int32Array[], slot: Slot, isAlone: boolean): Promise<PairResults> {
    // few pairs would leave threads idle
    const areFew = isAlone && (pairs.length === 1 || 2 * pairs.length < this.#workers.length);
    if (this.#inAllThreads === undefined || (this.#workers.length > 0 && !areFew)) {
      slot.release();
      return this.#sideBySide(pairs);
    }
    await slot.othersEnded;
    return runPairs(this.#inAllThreads, { pairs, next: newCounter() });
  }

  /**
   * Every worker takes the next pair until none is left. It then goes on with the next batch, so that none is idle at the end
   * of one. The longest pairs come first, so that none remains alone.
   */
  async #sideBySide(pairs: readonly Int32Array[]): Promise<PairResults> {
    const order = [...pairs.entries()].sort(([, a], [, b]) => b.length - a.length);
    const task = { pairs: order.map(([, pair]) => pair), next: newCounter() };
    const runs = this.#workers.map((worker) => worker.run(task));
    const logits = await gather(runs, pairs.length);
    return new Map([...logits].map(([at, found]) => [order[at]?.[0] ?? -1, found]));
  }
}

/** Pairs of several lengths, for trying the graph: the shortest, and some that several threads share. */
function samplesOf({ sample = new Int32Array(1), maxTokens }: PairGraph): readonly Int32Array[] {
  const longer = (more: number) => Int32Array.from([...sample, ...Array(more).fill(sample.at(-1) ?? 0)]);
  return [0, 1, 30, 97].map(longer).filter(({ length }) => length <= maxTokens);
}

/** A pair whose last token may be complemented, which asks for the second reading. */
function plainIds(pair: Int32Array): { readonly ids: Int32Array; readonly isSecond: boolean } {
  const last = pair.at(-1) ?? 0;
  return last < 0 ? { ids: pair.with(-1, ~last), isSecond: true } : { ids: pair, isSecond: false };
}

const isSame = <Numbers extends Int32Array | Float32Array>(a: Numbers, b: Numbers | undefined) =>
  a.length === b?.length && a.every((value, at) => Object.is(value, b[at]));
