/** What a batch has while it is computed. */
export interface Slot {
  /** Lets the next batch begin before this one has ended. */
  release(): void;
  /** Resolves when all batches that began earlier have ended, successfully or not. */
  readonly othersEnded: Promise<unknown>;
}

/** Computes batches in the order in which they arrive. One begins when the one before it has ended or has released its slot. */
export class BatchSlots {
  #nextMayBegin: Promise<void> = Promise.resolve();
  readonly #underWay = new Set<Promise<unknown>>();

  async run<Result>(compute: (slot: Slot) => Promise<Result>): Promise<Result> {
    const mayBegin = this.#nextMayBegin;
    let release = () => {};
    this.#nextMayBegin = new Promise((resolve) => {
      release = resolve;
    });
    await mayBegin;
    const othersEnded = Promise.allSettled([...this.#underWay]);
    const result = (async () => compute({ release, othersEnded }))();
    this.#underWay.add(result);
    try {
      return await result;
    } finally {
      this.#underWay.delete(result);
      release();
    }
  }
}
