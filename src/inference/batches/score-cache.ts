import { LRUCache } from "lru-cache";

/** A pair's score, with the input vector of the model's head if the backend is configured to return it. */
export type PairResult = number | { readonly score: number; readonly vector: Float32Array };

/** Maximum entries of one map. Growing a map of this size blocks the event loop for about 5 ms. */
const MOST_OF_ONE = 65_536;

/**
 * Scores by the key of a pair's full input. Evicts the least recently used entries. A large cache consists of several maps.
 */
export class ScoreCache {
  readonly #shares: readonly LRUCache<string, PairResult>[];
  #hits = 0;

  /** @param capacity entries, 0 = off */
  constructor(capacity: number) {
    const count = Math.ceil(capacity / MOST_OF_ONE);
    const sizeOf = (share: number) => Math.floor((capacity + share) / count); // sums to `capacity`
    this.#shares = Array.from({ length: count }, (_, share) => new LRUCache({ max: sizeOf(share) }));
  }

  get size(): number {
    return this.#shares.reduce((sum, { size }) => sum + size, 0);
  }

  /** Lookups that found a score. */
  get hits(): number {
    return this.#hits;
  }

  get(key: string): PairResult | undefined {
    const result = this.#shareOf(key)?.get(key);
    if (result !== undefined) this.#hits += 1;
    return result;
  }

  set(key: string, result: PairResult): void {
    this.#shareOf(key)?.set(key, result);
  }

  /** The map of a key. Keys are digests, so a few of their characters distribute them evenly. */
  #shareOf(key: string): LRUCache<string, PairResult> | undefined {
    const number = (key.charCodeAt(0) * 131 + key.charCodeAt(1)) * 131 + key.charCodeAt(2);
    return this.#shares[number % this.#shares.length] ?? this.#shares[0];
  }
}
