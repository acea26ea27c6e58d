/** Chosen: nobody is sent away for longer, and after so long the first ones have come again. */
const LONGEST_MS = 60_000;
/** Chosen: of the time that a request takes, so that the queue does not run empty where some do not come again. */
const SPACING = 0.5;

/**
 * When refused callers may come again: one after the other, each when the ones before are done. If all were told the time of the next
 * free place, all but one would be refused again, and refusing them would take the processors from the model.
 */
export class Appointments {
  #lastAt = 0;

  /**
   * @param lateByMs how much too late the request would end now
   * @param ownMs    that it takes alone
   * @returns milliseconds from now, at most a minute unless it is later than that by itself
   */
  next(now: number, { lateByMs, ownMs }: { readonly lateByMs: number; readonly ownMs: number }): number {
    const earliest = now + lateByMs;
    const isFull = this.#lastAt > now + LONGEST_MS;
    this.#lastAt = (isFull ? earliest : Math.max(earliest, this.#lastAt)) + SPACING * ownMs;
    return this.#lastAt - now;
  }
}
