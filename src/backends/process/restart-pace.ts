/** Chosen: between the starts of two processes there is at most a second, so that the longest pause and a load stay below two. */
const FIRST_INTERVAL_MS = 100;
const LONGEST_INTERVAL_MS = 1_000;
/** Chosen: a process that has lived so long does not die of what it is fed at once. */
const CALM_MS = 10_000;

/**
 * How long to wait before a process is started again: not at all after one that has lived for a while, else until some time has
 * passed since the last one was started; each time twice as long, up to a second. Answers do not count as a sign of health: what kills
 * one process in a second may come between good requests, again and again.
 */
export class RestartPace {
  #intervalMs = 0;

  /**
   * @param livedMs from when the process that has ended was ready to its end; 0 if it never was
   * @param sinceStartMs from when it was started
   * @returns milliseconds to wait
   */
  next(livedMs: number, sinceStartMs: number): number {
    if (livedMs >= CALM_MS) this.#intervalMs = 0;
    const intervalMs = this.#intervalMs;
    this.#intervalMs = Math.min(LONGEST_INTERVAL_MS, Math.max(FIRST_INTERVAL_MS, intervalMs * 2));
    return Math.max(0, intervalMs - sinceStartMs);
  }
}
