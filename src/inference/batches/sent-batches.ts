import type { Pace } from "./pace.ts";

/** A batch that was sent to the backend. Times are on the scheduler's clock, in milliseconds. */
export interface SentBatch {
  /** Its new tokens, estimated. */
  readonly tokens: number;
  /** Time at which the previous batch ended. Processors that had nothing left of that one may have begun earlier. */
  startedAt: number | undefined;
}

/**
 * How early the next batch is sent, as the time of so many tokens. If later, a processor that has no forward of the current
 * batch left may idle; if earlier, the batch misses requests that are about to arrive. Two forwards of 128.
 */
const AHEAD_TOKENS = 256;
/** Upper limit, for slow models: a share of the current batch's time, but not less than the second number. Chosen. */
const MOST_AHEAD = { share: 0.15, ms: 100 };
const LEAST_AHEAD_MS = 2;
/** Minimum time of a batch during which the next one is sent. Shorter ones end before another batch is formed. Chosen. */
const SHORTEST_MS = 4;

/**
 * The batches that were sent to the backend: the current one, and the next one, which is sent shortly before the expected
 * end of the current one, or at once if the current one is short. So no processor of the backend idles while others finish
 * the current batch and messages travel between the processes.
 *
 *     backend    ├── batch 1 ───────────────────┼── batch 2 ────── ...
 *     sent       1                        2 ↑ ahead of the end
 */
export class SentBatches {
  readonly #pace: Pace;
  readonly #sent: SentBatch[] = [];

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  get count(): number {
    return this.#sent.length;
  }

  add(tokens: number, now: number): SentBatch {
    const sent: SentBatch = { tokens, startedAt: this.#sent.length === 0 ? now : undefined };
    this.#sent.push(sent);
    return sent;
  }

  /** @param computed tokens that the backend has computed; undefined if the batch failed, so that its time says nothing */
  end(sent: SentBatch, now: number, computed?: number): void {
    const at = this.#sent.indexOf(sent);
    if (at >= 0) this.#sent.splice(at, 1);
    if (computed !== undefined && sent.startedAt !== undefined)
      this.#pace.record(computed, now - sent.startedAt);
    const [next] = this.#sent;
    if (next) next.startedAt ??= now;
  }

  /** Milliseconds until the next batch may be sent: 0 if now, infinite if a batch has to end first. */
  untilRoomMs(now: number): number {
    const [current, ahead] = this.#sent;
    if (current === undefined) return 0;
    const expected = this.#pace.expectedMs(current.tokens);
    if (ahead !== undefined || expected === undefined || expected < SHORTEST_MS)
      return Number.POSITIVE_INFINITY;
    const most = Math.max(MOST_AHEAD.ms, MOST_AHEAD.share * expected);
    const aheadMs = Math.max(LEAST_AHEAD_MS, Math.min(most, this.#pace.expectedMs(AHEAD_TOKENS) ?? 0));
    return Math.max(0, (current.startedAt ?? now) + expected - aheadMs - now);
  }

  /** Estimated milliseconds until the backend is idle. A batch that is overdue counts as 0. */
  remainingMs(now: number): number {
    return this.#sent.reduce((sum, { tokens, startedAt }) => {
      const expected = this.#pace.expectedMs(tokens) ?? 0;
      return sum + Math.max(0, expected - (startedAt === undefined ? 0 : now - startedAt));
    }, 0);
  }
}
