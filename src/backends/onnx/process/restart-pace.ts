/** Chosen: a new process is there two seconds and a load after the last one died, however often that happens. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;
/** Chosen: a process that has lived so long does not die of what it is fed at once. */
const CALM_MS = 10_000;

/**
 * How long to wait before a process is started again: not at all after one that has lived for a while, else twice as
 * long as the time before, up to the longest wait. Answers do not count as a sign of health: what kills one process in
 * a second may come between good requests, again and again.
 */
export class RestartPace {
  #waitMs = 0;

  /**
   * @param livedMs from when the process that has ended was ready to its end; 0 if it never was
   * @returns milliseconds to wait
   */
  next(livedMs: number): number {
    if (livedMs >= CALM_MS) this.#waitMs = 0;
    const waitMs = this.#waitMs;
    this.#waitMs = Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, waitMs * 2));
    return waitMs;
  }
}
