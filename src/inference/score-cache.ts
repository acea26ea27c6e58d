import { LruCache } from "./lru-cache.ts";

/** Scores by the key of a pair's full input; the least recently used entry leaves first. */
export class ScoreCache {
  readonly #scores: LruCache<number>;
  #hits = 0;

  /** @param capacity entries, 0 = off */
  constructor(capacity: number) {
    this.#scores = new LruCache(capacity, () => 1);
  }

  get size(): number {
    return this.#scores.count;
  }

  /** Lookups that found a score. */
  get hits(): number {
    return this.#hits;
  }

  get(key: string): number | undefined {
    const score = this.#scores.get(key);
    if (score !== undefined) this.#hits += 1;
    return score;
  }

  set(key: string, score: number): void {
    this.#scores.set(key, score);
  }
}
