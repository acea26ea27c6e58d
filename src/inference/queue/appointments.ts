/** The longest time that a refused caller is told to wait. By then the first ones have come back. A judgement, not measured. */
const LONGEST_MS = 60_000;
/** Callers come back after this share of a request's time: some never do, and the queue should not run empty. A judgement. */
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
   * @returns milliseconds from now: at most a minute, or `lateByMs` if that is more
   */
  next(now: number, { lateByMs, ownMs }: { readonly lateByMs: number; readonly ownMs: number }): number {
    const earliest = now + lateByMs;
    const isFull = this.#lastAt > now + LONGEST_MS;
    this.#lastAt = (isFull ? earliest : Math.max(earliest, this.#lastAt)) + SPACING * ownMs;
    return this.#lastAt - now;
  }
}
