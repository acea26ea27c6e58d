/** Chosen: a restart waits for at most one second, so that the pause and a load together take less than two. */
const FIRST_INTERVAL_MS = 100;
const LONGEST_INTERVAL_MS = 1_000;
/** Chosen: a process that has lived this long was not killed by its first requests. */
const CALM_MS = 10_000;

/**
 * Exponential backoff for restarts. A process that has lived for a while is restarted at once. Otherwise two starts are at
 * least 100 ms apart, and twice as long each time, up to a second. Successful answers do not reset the backoff, because a
 * request that kills processes may repeatedly come between good ones.
 */
export class RestartPace {
  #intervalMs = 0;

  /**
   * @param livedMs time for which the ended process was ready; 0 if it never was
   * @param sinceStartMs time since it was started
   * @returns milliseconds to wait
   */
  next(livedMs: number, sinceStartMs: number): number {
    if (livedMs >= CALM_MS) this.#intervalMs = 0;
    const intervalMs = this.#intervalMs;
    this.#intervalMs = Math.min(LONGEST_INTERVAL_MS, Math.max(FIRST_INTERVAL_MS, intervalMs * 2));
    return Math.max(0, intervalMs - sinceStartMs);
  }
}
