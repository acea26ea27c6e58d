/** A forest's turn. */
export interface Turn {
  /** Whether no other forest is being computed or waits. */
  readonly isOnly: boolean;
  /** Lets the next forest begin before this one has ended. */
  share(): void;
  /** Resolves when all forests that began earlier have ended, successfully or not. */
  readonly othersEnded: Promise<unknown>;
}

/**
 * The order in which forests are computed: that in which they came. A forest begins when the one before it has ended or shares
 * its turn.
 */
export class ForestTurns {
  #count = 0;
  #nextMayBegin: Promise<void> = Promise.resolve();
  readonly #underWay = new Set<Promise<unknown>>();

  async take<Result>(compute: (turn: Turn) => Promise<Result>): Promise<Result> {
    this.#count += 1;
    const mayBegin = this.#nextMayBegin;
    let share = () => {};
    this.#nextMayBegin = new Promise((resolve) => {
      share = resolve;
    });
    await mayBegin;
    const othersEnded = Promise.allSettled([...this.#underWay]);
    const turns = this;
    const result = compute({
      share,
      othersEnded,
      get isOnly() {
        return turns.#count === 1;
      },
    });
    this.#underWay.add(result);
    try {
      return await result;
    } finally {
      this.#underWay.delete(result);
      this.#count -= 1;
      share();
    }
  }
}
