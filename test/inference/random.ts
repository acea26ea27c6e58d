import { seededRandom } from "../support/seeded-random.ts";

/** Seeded choices, so that a failing case can be run again. */
export class Random {
  /** In [0, 1). */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seededRandom(seed).next;
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

  isChance(probability: number): boolean {
    return this.next() < probability;
  }
}
