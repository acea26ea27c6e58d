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

/** A batch that was sent to the backend. Times are on the scheduler's clock, in milliseconds. */
export interface SentBatch {
  readonly tokens: number;
  /** Time at which the previous batch ended. Processors that had nothing left of that one may have begun earlier. */
  startedAt: number | undefined;
}

/**
 * How long before the expected end of a batch the next one is sent. If later, processors that have nothing left of the current one
 * idle; if earlier, the next one misses requests that are about to arrive. Measured: the time of two forwards of 128 tokens.
 */
const AHEAD_MS = 25;

/**
 * The batches that the backend has: the current one, and shortly before its end the next one.
 *
 *     backend    ├── batch 1 ───────────────────┼── batch 2 ────── ...
 *     sent       1                        2 ↑ ahead of the end
 */
export class SentBatches {
  readonly #throughput: Throughput;
  readonly #sent: SentBatch[] = [];

  constructor(throughput: Throughput) {
    this.#throughput = throughput;
  }

  get count(): number {
    return this.#sent.length;
  }

  add(tokens: number, now: number): SentBatch {
    const sent = { tokens, startedAt: this.#sent.length === 0 ? now : undefined };
    this.#sent.push(sent);
    return sent;
  }

  /** Removes a batch, and measures it unless it failed. */
  end(sent: SentBatch, now: number, hasFailed: boolean): void {
    this.#sent.splice(this.#sent.indexOf(sent), 1);
    if (!hasFailed && sent.startedAt !== undefined)
      this.#throughput.record(sent.tokens, now - sent.startedAt);
    const [next] = this.#sent;
    if (next) next.startedAt ??= now;
  }

  /** Milliseconds until the next batch may be sent: 0 if now, infinite if a batch has to end first. */
  untilRoomMs(now: number): number {
    const [current, next] = this.#sent;
    if (current === undefined) return 0;
    const expected = this.#throughput.msFor(current.tokens);
    if (next !== undefined || expected === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(0, (current.startedAt ?? now) + expected - AHEAD_MS - now);
  }

  /** Estimated milliseconds until the backend is idle. A batch that is overdue counts as 0. */
  remainingMs(now: number): number {
    return this.#sent.reduce((sum, { tokens, startedAt }) => {
      const expected = this.#throughput.msFor(tokens) ?? 0;
      return sum + Math.max(0, expected - (startedAt === undefined ? 0 : now - startedAt));
    }, 0);
  }
}
