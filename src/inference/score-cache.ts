/** Scores by the key of a pair's full input; the least recently used entry leaves first. */
export class ScoreCache {
  readonly #capacity: number;
  readonly #scores = new Map<string, number>(); // oldest use first
  #hits = 0;

  /** @param capacity entries, 0 = off */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#scores.size;
  }

  /** Lookups that found a score. */
  get hits(): number {
    return this.#hits;
  }

  get(key: string): number | undefined {
    const score = this.#scores.get(key);
    if (score === undefined) return undefined;
    this.#hits += 1;
    this.#scores.delete(key);
    this.#scores.set(key, score);
    return score;
  }

  set(key: string, score: number): void {
    if (this.#capacity === 0) return;
    this.#scores.delete(key);
    this.#scores.set(key, score);
    if (this.#scores.size <= this.#capacity) return;
    for (const oldest of this.#scores.keys()) {
      this.#scores.delete(oldest);
      return;
    }
  }
}
