import type { EngineSettings } from "../ports.ts";
import type { Batch } from "./batch.ts";
import { BatchRule } from "./batch-rule.ts";
import { type Expected, Forecast } from "./forecast.ts";
import { Pace } from "./pace.ts";
import type { RequestWork } from "./request-work.ts";
import type { ScoreCache } from "./score-cache.ts";
import { type SentBatch, SentBatches } from "./sent-batches.ts";
import { isLong } from "./size-classes.ts";

/** Q of the batch rule: a batch takes so long, unless small requests fill it further. Chosen: 50 and 100 are as good, 200 is worse. */
const BATCH_MS = 100;
/** Two forwards of 128 tokens: less does not fill two processors. */
const LEAST_AHEAD = 256;
/** Chosen: each batch encodes its questions anew and reads the keys of its state again. A request of 32 questions takes 1.17 times as long with 256. */
const LEAST_QUANTUM = 512;

/** What the backend gets next, when, and how long all of it takes. Times are on the scheduler's clock, in milliseconds. */
export class Dispatcher {
  readonly #maxTokens: number;
  readonly #rule: BatchRule;
  readonly #pace = new Pace();
  readonly #sent = new SentBatches(this.#pace);
  readonly #forecast = new Forecast(this.#pace);

  constructor({ maxBatchRequests, maxBatchTokens, strict }: EngineSettings, cache: ScoreCache) {
    this.#maxTokens = maxBatchTokens;
    const limits = { maxRequests: maxBatchRequests, maxTokens: maxBatchTokens, isStrict: strict };
    this.#rule = new BatchRule(limits, cache);
  }

  /** Whether the backend has nothing to do. */
  get isIdle(): boolean {
    return this.#sent.count === 0;
  }

  /** Whether waiting for more requests would gain little. */
  isFull(works: readonly RequestWork[]): boolean {
    return this.#rule.isFull(works);
  }

  /** Answers the request's next pairs as far as the cache knows them. */
  answerKnown(work: RequestWork): void {
    this.#rule.answerKnown(work);
  }

  /** Milliseconds until the next batch may be sent: 0 for now, infinite where the end of a batch has to come first. */
  untilRoomMs(now: number): number {
    return this.#sent.untilRoomMs(now);
  }

  /**
   * Whether these are enough for a batch that is sent ahead. A few requests wait for the end of the batch before: sent ahead alone,
   * they would keep one processor busy and hold the next ones up.
   */
  isWorthSending(works: readonly RequestWork[]): boolean {
    return this.isIdle || tokensOf(works) >= LEAST_AHEAD;
  }

  /** The next batch. Empty only if no pair is left. @param works requests with pairs to hand out */
  form(works: readonly RequestWork[], now: number): Batch {
    const quantum = this.#quantum();
    const hasLong = works.some(({ remainingTokens }) => isLong(remainingTokens, quantum));
    const batch = this.#rule.form(works, quantum);
    if (hasLong) this.#forecast.noteBatch(batch, now);
    return batch;
  }

  /** To be called when a batch is sent. */
  begin(batch: Batch, now: number): SentBatch {
    return this.#sent.add(batch.tokenCount, now);
  }

  /** @param isMeasured whether it came to its end, so that its time says something */
  end(sent: SentBatch, now: number, isMeasured: boolean): void {
    this.#sent.end(sent, now, isMeasured);
  }

  /**
   * Requests that would miss their deadline, with the milliseconds until their end. A request that finds nobody before it is none of
   * them: it is tried, so that a forecast that was too long is corrected.
   *
   * @param waiting with pairs to hand out
   * @param margin  a forecast counts so many times
   */
  late<Each extends Expected>(
    waiting: readonly Each[],
    now: number,
    margin: number,
  ): ReadonlyMap<Each, number> {
    if (waiting.length === 1 && this.isIdle) return new Map();
    const sentMs = this.#sent.remainingMs(now);
    return this.#forecast.late(waiting, { quantum: this.#quantum(), sentMs, margin, now });
  }

  /** Takes note of a request whose texts have become tokens. */
  noteTokens(textLength: number, { remainingTokens }: RequestWork): void {
    this.#forecast.noteTokens(textLength, remainingTokens);
  }

  /**
   * When a request would end whose texts are no tokens yet, if it is so long that it has to wait for all others.
   *
   * @param works       that wait with their tokens
   * @param textLengths of those that wait without
   * @returns milliseconds; 0 where nobody can tell, or it is shorter, or finds nobody before it
   */
  expectedEndMs(textLength: number, works: readonly RequestWork[], textLengths: number, now: number): number {
    const own = this.#forecast.tokensOf(textLength);
    if (!isLong(own, this.#quantum())) return 0;
    const before = tokensOf(works) + this.#forecast.tokensOf(textLengths);
    if (before === 0 && this.isIdle) return 0;
    return this.#sent.remainingMs(now) + (this.#forecast.longMs(before + own, now) ?? 0);
  }

  /** Milliseconds for a request alone, from the length of its texts; 0 before there are measurements. */
  ownMs(textLength: number): number {
    return this.#pace.expectedMs(this.#forecast.tokensOf(textLength)) ?? 0;
  }

  /** The same of what is left of a request. */
  workMs({ remainingTokens }: RequestWork): number {
    return this.#pace.expectedMs(remainingTokens) ?? 0;
  }

  /** Milliseconds until all is done; 0 before there are measurements. */
  estimatedWaitMs(works: readonly RequestWork[], now: number): number {
    return this.#sent.remainingMs(now) + this.#forecast.totalMs(works);
  }

  #quantum(): number {
    const least = Math.min(this.#maxTokens, LEAST_QUANTUM);
    return this.#pace.tokensWithin(BATCH_MS, { least, most: this.#maxTokens });
  }
}

function tokensOf(works: readonly RequestWork[]): number {
  return works.reduce((sum, { remainingTokens }) => sum + remainingTokens, 0);
}
