import type { EngineSettings } from "../ports.ts";
import type { Batch } from "./batch.ts";
import { BatchRule } from "./batch-rule.ts";
import { type Expected, Forecast } from "./forecast.ts";
import { Pace } from "./pace.ts";
import type { RequestWork } from "./request-work.ts";
import type { ScoreCache } from "./score-cache.ts";
import { type SentBatch, SentBatches } from "./sent-batches.ts";
import { isLong } from "./size-classes.ts";

/** Time of a batch that is not filled up by small requests; gives Q of the batch rule. Measured: 50 and 100 are equally good, 200 is worse. */
const BATCH_MS = 100;
/** Smallest Q: each batch encodes its questions and reads the keys of its state again. With 256, a request of 32 questions takes 1.17 times as long. */
const LEAST_QUANTUM = 512;

/** Decides which batch the backend gets next and when, and estimates how long the waiting work takes. Times are on the scheduler's clock, in milliseconds. */
export class Dispatcher {
  readonly #maxTokens: number;
  readonly #rule: BatchRule;
  readonly #pace = new Pace();
  readonly #sent = new SentBatches(this.#pace);
  readonly #forecast = new Forecast(this.#pace);

  constructor(
    { maxBatchRequests, maxBatchTokens, strict, queueCapacity }: EngineSettings,
    cache: ScoreCache,
  ) {
    this.#maxTokens = maxBatchTokens;
    const limits = {
      maxRequests: maxBatchRequests,
      maxTokens: maxBatchTokens,
      isStrict: strict,
      mostOvertaken: queueCapacity,
    };
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

  /** Milliseconds until the next batch may be sent: 0 if now, infinite if a batch has to end first. */
  untilRoomMs(now: number): number {
    return this.#sent.untilRoomMs(now);
  }

  /** The next batch; empty only if it has answered pairs, or none is left. @param works requests with remaining pairs */
  form(works: readonly RequestWork[], now: number): Batch {
    const quantum = this.#quantum();
    const hasLong = works.some(({ remainingTokens }) => isLong(remainingTokens, quantum));
    const batch = this.#rule.form(works, quantum);
    if (hasLong) this.#forecast.noteBatch(batch, { quantum, now });
    return batch;
  }

  /** Call when a batch is sent. */
  begin(batch: Batch, now: number): SentBatch {
    return this.#sent.add(batch.tokenCount, now);
  }

  /** @param computed tokens that the backend has computed; undefined if the batch failed, so that its time says nothing */
  end(sent: SentBatch, now: number, computed?: number): void {
    this.#sent.end(sent, now, computed);
  }

  /**
   * Requests that would miss their deadline, with the milliseconds until they would be done. Never contains a request with
   * nothing before it: it is tried in any case, so that too long forecasts get corrected.
   *
   * @param waiting requests with remaining pairs
   * @param margin  factor by which forecasts are multiplied
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

  /** Milliseconds until the last of waiting requests of so many tokens in all is done, at most. @param margin as in `late` */
  longestEndMs(tokens: number, now: number, margin: number): number {
    return this.#sent.remainingMs(now) + margin * this.#forecast.longestMs(tokens);
  }

  /** Records how many tokens a request's texts have. */
  noteTokens(textLength: number, { tokens }: RequestWork): void {
    this.#forecast.noteTokens(textLength, tokens);
  }

  /** Whether a request is long, estimated from the length of its texts. It need not be tokenized yet. */
  isLong(textLength: number): boolean {
    return isLong(this.#forecast.tokensOf(textLength), this.#quantum());
  }

  /**
   * Estimated time until a long request, which waits for all others, would be done.
   *
   * @param works       requests that wait and are tokenized
   * @param textLengths length of the texts of all waiting requests that are not tokenized
   * @returns milliseconds; 0 if nothing is before it, or before there are measurements
   */
  expectedEndMs(textLength: number, works: readonly RequestWork[], textLengths: number, now: number): number {
    const before = tokensOf(works) + this.#forecast.tokensOf(textLengths);
    if (before === 0 && this.isIdle) return 0;
    const tokens = before + this.#forecast.tokensOf(textLength);
    return this.#sent.remainingMs(now) + (this.#forecast.longMs(tokens, now) ?? 0);
  }

  /** Milliseconds that a request takes alone, estimated from the length of its texts; 0 before there are measurements. */
  ownMs(textLength: number): number {
    return this.#pace.expectedMs(this.#forecast.tokensOf(textLength)) ?? 0;
  }

  /** Milliseconds for the rest of a request; 0 before there are measurements. */
  workMs({ remainingTokens }: RequestWork): number {
    return this.#pace.expectedMs(remainingTokens) ?? 0;
  }

  /** Milliseconds until all work is done; 0 before there are measurements. */
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
