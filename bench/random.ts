import { createHash } from "node:crypto";

/** Seeded choices: the same seed and names give the same requests on every machine. */
export class Random {
  #state: number;

  /** @param names purpose of the numbers; each purpose has its own sequence */
  constructor(seed: number, ...names: readonly (string | number)[]) {
    this.#state = createHash("sha256")
      .update([seed, ...names].join("\u0000"))
      .digest()
      .readInt32LE();
  }

  /** In [0, 1). @see mulberry32, T. Ettinger 2017 */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer, both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  /** A log-normal size, as in real traffic, with the given median and bounds. */
  size(median: number, spread: number, low: number, high: number): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
    return Math.min(high, Math.max(low, Math.round(median * Math.exp(spread * normal))));
  }
}
