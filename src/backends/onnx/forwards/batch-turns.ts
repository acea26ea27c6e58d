/** A batch's turn. */
export interface Turn {
  /** Lets the next batch begin before this one has ended. */
  share(): void;
  /** Resolves when all batches that began earlier have ended, successfully or not. */
  readonly othersEnded: Promise<unknown>;
}

/**
 * The order in which batches are computed: that in which they came. A batch begins when the one before it has ended or shares
 * its turn.
 */
export class BatchTurns {
  #nextMayBegin: Promise<void> = Promise.resolve();
  readonly #underWay = new Set<Promise<unknown>>();

  async take<Result>(compute: (turn: Turn) => Promise<Result>): Promise<Result> {
    const mayBegin = this.#nextMayBegin;
    let share = () => {};
    this.#nextMayBegin = new Promise((resolve) => {
      share = resolve;
    });
    await mayBegin;
    const othersEnded = Promise.allSettled([...this.#underWay]);
    const result = (async () => compute({ share, othersEnded }))();
    this.#underWay.add(result);
    try {
      return await result;
    } finally {
      this.#underWay.delete(result);
      share();
    }
  }
}
