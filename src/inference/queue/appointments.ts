/** Appointments further ahead than this start again from the front, because the first callers have come back by then. Chosen. */
const LONGEST_MS = 60_000;
/** Distance between two appointments, as a share of the request's time. Below 1, because some callers never return. Chosen. */
const SPACING = 0.5;

/**
 * Says when refused callers should retry: one after the other. If all were told the time of the next free place, they
 * would all come back at once, and all but one would be refused again.
 */
export class Appointments {
  #lastAt = 0;

  /**
   * @param lateByMs by how much the request would miss its deadline if it were accepted now
   * @param ownMs    how long the request takes alone
   * @returns milliseconds from now. At most a minute, or `lateByMs` if that is more; half of `ownMs` is added
   */
  next(now: number, { lateByMs, ownMs }: { readonly lateByMs: number; readonly ownMs: number }): number {
    const earliest = now + lateByMs;
    const isFull = this.#lastAt > now + LONGEST_MS;
    this.#lastAt = (isFull ? earliest : Math.max(earliest, this.#lastAt)) + SPACING * ownMs;
    return this.#lastAt - now;
  }
}
