import type { Pace } from "./pace.ts";

/** A batch that the backend has. Times are the scheduler's clock, in milliseconds. */
export interface SentBatch {
  readonly tokens: number;
  /** When the backend began with it: once the one before it had ended. */
  startedAt: number | undefined;
}

/** Chosen: sent later, a batch may come too late; sent earlier, it misses requests that are about to arrive. */
const AHEAD_SHARE = 0.15;
const LEAST_AHEAD_MS = 2;
/** A batch that is shorter is over before another one is formed. Chosen. */
const SHORTEST_MS = 4;

/**
 * The batches that the backend has: the one that it computes, and shortly before the expected end of that one the next, so that
 * it does not wait for the way between the processes.
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

  /** @param isMeasured whether it came to its end, so that its time says something */
  end(sent: SentBatch, now: number, isMeasured: boolean): void {
    const at = this.#sent.indexOf(sent);
    if (at >= 0) this.#sent.splice(at, 1);
    if (isMeasured && sent.startedAt !== undefined) this.#pace.record(sent.tokens, now - sent.startedAt);
    const [next] = this.#sent;
    if (next) next.startedAt ??= now;
  }

  /** Milliseconds until the next batch may be sent: 0 for now, infinite where only the end of one can make room. */
  untilRoomMs(now: number): number {
    const [current, ahead] = this.#sent;
    if (current === undefined) return 0;
    const expected = this.#pace.expectedMs(current.tokens);
    if (ahead !== undefined || expected === undefined || expected < SHORTEST_MS)
      return Number.POSITIVE_INFINITY;
    const aheadMs = Math.max(LEAST_AHEAD_MS, AHEAD_SHARE * expected);
    return Math.max(0, (current.startedAt ?? now) + expected - aheadMs - now);
  }

  /** Milliseconds that the backend has still to do, as far as that can be told; one that is late may end at any moment. */
  remainingMs(now: number): number {
    return this.#sent.reduce((sum, { tokens, startedAt }) => {
      const expected = this.#pace.expectedMs(tokens) ?? 0;
      return sum + Math.max(0, expected - (startedAt === undefined ? 0 : now - startedAt));
    }, 0);
  }
}
