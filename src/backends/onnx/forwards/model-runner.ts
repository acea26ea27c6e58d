import { LRUCache } from "lru-cache";
import type { BatchScores } from "../../../inference/backend.ts";
import { type Node, stateOf } from "../../../inference/nodes.ts";
import { isLongState, newNodes, pastNodes, scoredNodes, tokenCount } from "../../tensors/forward.ts";
import { byteLength, type KeyValues } from "../../tensors/key-values.ts";
import { PairScores } from "../../tensors/pair-scores.ts";
import { type TreeModel, type TreeShape, treeModel } from "../../tensors/tree-model.ts";
import type { Place } from "../runtime/session-options.ts";
import { BatchSlots, type Slot } from "./batch-slots.ts";
import { BufferCollector } from "./buffer-collector.ts";
import { planForwards, roundsOf } from "./planner.ts";
import { areSmall, type Mode, WorkerPool } from "./worker-pool.ts";

/**
 * Batches in a row that arrived alone, after which callers are assumed to come one at a time. Then a small forward may use all processors,
 * which ends it somewhat sooner but takes half as much processor time again. Under load this time is missing elsewhere. Chosen.
 */
const FEW_ALONE = 4;

export interface RunnerOptions {
  readonly threads: number;
  readonly stateCacheBytes: number;
  /** See work-split.ts. Default: 1. */
  readonly piecesPerThread?: number;
  /** Whether to return vectors in addition to scores. Default: false. */
  readonly hasVectors?: boolean;
  /** Default: the CPU. Any other device requires `threads` to be 1. */
  readonly place?: Place;
}

/** A model loaded in this process. */
export interface Runner {
  /** Lookups of states in the cache: hits, and misses that were computed and cached. Undefined if there is no cache. */
  readonly stateCounts?: { readonly hits: number; readonly misses: number };
  /** Whether threads of the runner end the process when its parent dies. */
  readonly watchesParent?: boolean;
  /**
   * @param leaves  as for `Backend`
   * @param isAlone whether all other batches have been answered. If not, or shortly after such a batch, a single small forward runs in
   *                one thread, which leaves the others to the next batch. Default: true
   */
  score(leaves: readonly Node[], isAlone?: boolean): Promise<BatchScores>;
}

/** Scores batches with a token-tree graph: src/onnx/encoder/bert-token-tree.ts or gemma3-token-tree.ts. */
export class ModelRunner implements Runner {
  readonly #pool: WorkerPool;
  /**
   * Keys and values of recent states: another question about one costs only the question's tokens. Evicts the least
   * recently used ones. Undefined if there is no memory for them.
   */
  readonly #states: LRUCache<string, KeyValues> | undefined;
  #hits = 0;
  #misses = 0;
  readonly #collector = new BufferCollector();
  readonly #slots = new BatchSlots();
  /** Batches of one state in a row before which all others had been answered. */
  #aloneInARow = FEW_ALONE;
  /** Keys of the states that are being encoded for the cache. */
  readonly #beingEncoded = new Set<string>();

  private constructor(pool: WorkerPool, stateCacheBytes: number) {
    this.#pool = pool;
    if (stateCacheBytes > 0)
      this.#states = new LRUCache({ maxSize: stateCacheBytes, sizeCalculation: byteLength });
  }

  /** @param graph bytes of the ONNX file, or its path */
  static load(
    graph: Uint8Array | string,
    shape: TreeShape,
    { threads, stateCacheBytes, piecesPerThread, place }: RunnerOptions,
  ): Promise<ModelRunner> {
    return ModelRunner.loadModel(graph, treeModel(shape, threads, piecesPerThread), stateCacheBytes, place);
  }

  static async loadModel(
    graph: Uint8Array | string,
    model: TreeModel,
    stateCacheBytes: number,
    place?: Place,
  ): Promise<ModelRunner> {
    return new ModelRunner(await WorkerPool.start(graph, model, place), stateCacheBytes);
  }

  get watchesParent(): boolean {
    return this.#pool.hasWorkers;
  }

  get stateCounts(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }

  /**
   * A batch of small forwards releases its slot: the next batch begins as soon as a processor has nothing left to do. Any
   * other batch has all processors to itself.
   */
  score(leaves: readonly Node[], isAlone = true): Promise<BatchScores> {
    const states = new Set(leaves.map(stateOf));
    this.#aloneInARow = isAlone && states.size === 1 ? this.#aloneInARow + 1 : 0;
    const isOneAtATime = this.#aloneInARow >= FEW_ALONE;
    return this.#slots.run((slot) => this.#score(leaves, states, { slot, isOneAtATime }));
  }

  async #score(
    leaves: readonly Node[],
    states: ReadonlySet<Node>,
    { slot, isOneAtATime }: { readonly slot: Slot; readonly isOneAtATime: boolean },
  ): Promise<BatchScores> {
    if ([...states].some(({ key }) => this.#beingEncoded.has(key))) await slot.othersEnded; // then it is cached
    const encoded = this.#recall(states);
    const forwards = planForwards(leaves, encoded.keys(), this.#pool.count);
    const cachedTokens = tokenCount([...encoded.keys()]);
    const rounds = roundsOf(forwards);
    const isShared = this.#pool.hasWorkers && areSmall(rounds) && !(isOneAtATime && forwards.length === 1);
    const mode = isShared ? "side by side" : "together";
    const encodes = [...states].filter((state) => this.#isCacheable(state) && !encoded.has(state));
    for (const { key } of encodes) this.#beingEncoded.add(key);
    if (isShared) slot.release();
    else await slot.othersEnded;
    try {
      const results = await this.#compute(rounds, { states, encoded, mode });
      return { ...results.inOrder(leaves), forwards: forwards.length, cachedTokens };
    } finally {
      for (const { key } of encodes) this.#beingEncoded.delete(key);
    }
  }

  async #compute(
    rounds: ReturnType<typeof roundsOf>,
    {
      states,
      encoded,
      mode,
    }: {
      readonly states: ReadonlySet<Node>;
      readonly encoded: Map<Node, KeyValues>;
      readonly mode: Mode;
    },
  ): Promise<PairScores> {
    const lastUse = lastUses(rounds);
    const results = new PairScores();
    for (const [index, round] of rounds.entries()) {
      let bytes = 0;
      const neededLater = (node: Node) => (lastUse.get(node) ?? -1) > index;
      const isWanted = (node: Node) => neededLater(node) || this.#isCacheable(node);
      const tasks = round.map((forward) => ({
        forward,
        wanted: newNodes(forward).filter(isWanted),
      }));
      for (const [{ forward, wanted }, result] of await this.#pool.run(tasks, encoded, mode)) {
        results.record(scoredNodes(forward), result.scores, result.vectors);
        for (const [i, node] of wanted.entries()) {
          const keyValues = result.keyValues[i] as KeyValues; // one for each
          encoded.set(node, keyValues);
          bytes += byteLength(keyValues);
        }
      }
      this.#cache(states, encoded);
      for (const node of encoded.keys()) if (!neededLater(node)) encoded.delete(node);
      this.#collector.allocated(bytes);
    }
    return results;
  }

  /** Cached keys and values of the states. Referenced from here on, because the cache may evict them while forwards run. */
  #recall(states: ReadonlySet<Node>): Map<Node, KeyValues> {
    const encoded = new Map<Node, KeyValues>();
    for (const state of states) {
      const keyValues = this.#states?.get(state.key);
      if (keyValues) {
        encoded.set(state, keyValues);
        this.#hits += 1;
      } else if (this.#isCacheable(state)) this.#misses += 1;
    }
    return encoded;
  }

  #isCacheable(node: Node): boolean {
    return this.#states !== undefined && isLongState(node);
  }

  #cache(states: ReadonlySet<Node>, encoded: ReadonlyMap<Node, KeyValues>): void {
    for (const state of states) {
      const keyValues = encoded.get(state);
      if (keyValues && this.#isCacheable(state)) this.#states?.set(state.key, keyValues);
    }
  }
}

/** Index of the last round that reads a node's keys and values. */
function lastUses(rounds: ReturnType<typeof roundsOf>): ReadonlyMap<Node, number> {
  const last = new Map<Node, number>();
  for (const [index, round] of rounds.entries()) {
    for (const node of round.flatMap(pastNodes)) last.set(node, index);
  }
  return last;
}
