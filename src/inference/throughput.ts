/** The average forgets older batches within about so many tokens. Chosen: some seconds of batches of any size. */
const REMEMBERED_TOKENS = 4_096;
/** Batches before there is an estimate. The first of a new process is slow, and does not count. */
const FEWEST_BATCHES = 3;

/**
 * How fast the backend computes: a moving average of the milliseconds per token, weighted by tokens. It is the geometric
 * mean, so that a process that was stopped for a minute during one batch does not look slow for long.
 */
export class Throughput {
  #batches = 0;
  #logMsPerToken = 0;

  /** Records a batch that succeeded. @param tokens ignored if 0 */
  record(tokens: number, ms: number): void {
    if (!(tokens > 0 && ms >= 0)) return;
    this.#batches += 1;
    const weight = Math.max(1 / Math.max(1, this.#batches - 1), tokens / (tokens + REMEMBERED_TOKENS));
    this.#logMsPerToken += weight * (Math.log(Math.max(ms, 0.001) / tokens) - this.#logMsPerToken);
  }

  /** Milliseconds for this many tokens; undefined before there are measurements. */
  msFor(tokens: number): number | undefined {
    return this.#batches < FEWEST_BATCHES ? undefined : Math.exp(this.#logMsPerToken) * tokens;
  }
}
