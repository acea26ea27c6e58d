import type { Batch } from "./batch.ts";
import type { Pace } from "./pace.ts";
import type { RequestWork } from "./request-work.ts";
import { sizesOf } from "./size-classes.ts";

/** Weight of the newest value in moving averages, which thus follow the traffic within about ten batches. Chosen. */
const FOLLOWING = 0.1;
/** Minimum characters of texts used to estimate characters per token. Shorter ones are mostly special tokens. Chosen. */
const SHORTEST_TEXT = 500;
/** Half-life of the overtaking share while no long request waits: old traffic says little about new traffic. Chosen. */
const HALF_LIFE_MS = 10_000;
/** Maximum overtaking share: long requests always get part of each batch. Chosen. */
const LARGEST_SHARE = 0.9;

/**
 * Estimates when requests will be done: the tokens that the batch rule (`batch-rule.ts`) may put before them, times the measured
 * time per token. The estimates are upper bounds, as far as the backend keeps the states that it has cached.
 *
 * - A request that is not long: all requests that are not larger come first. If a long request waits, long ones may take as many
 *   tokens again, and Q in the last batch.
 * - A long request: all older ones and all that are not long come first. Later requests that are not long will overtake it as
 *   well. Their share of the backend's time is assumed to stay as it was lately.
 */
export class Forecast {
  readonly #pace: Pace;
  /** Tokens and characters of the latest texts. The initial value is that of English: 5 characters per token. */
  #seen = { tokens: 200, length: 1_000 };
  /** The overtaking share: of the tokens computed while a long request waited, those of requests that are not long. */
  #overtaking = { share: 0, notedAt: 0 };

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** Records a batch that was formed while a long request waited. Smaller batches than `quantum` count less. */
  noteBatch(
    { tokenCount, longTokens }: Pick<Batch, "tokenCount" | "longTokens">,
    { quantum, now }: { readonly quantum: number; readonly now: number },
  ): void {
    if (tokenCount === 0) return;
    const share = Math.min(LARGEST_SHARE, 1 - longTokens / tokenCount);
    const before = this.#shareAt(now);
    const weight = FOLLOWING * Math.min(1, tokenCount / quantum);
    this.#overtaking = { share: before + weight * (share - before), notedAt: now };
  }

  /** Records how many tokens a request's texts have. */
  noteTokens(textLength: number, tokens: number): void {
    if (textLength < SHORTEST_TEXT) return;
    const kept = 1 - FOLLOWING;
    this.#seen = {
      tokens: kept * this.#seen.tokens + tokens,
      length: kept * this.#seen.length + textLength,
    };
  }

  /** The approximate number of tokens of texts. */
  tokensOf(textLength: number): number {
    return (this.#seen.tokens / this.#seen.length) * textLength;
  }

  /** Milliseconds for this many tokens of long requests, including requests that overtake them; undefined before there are measurements. */
  longMs(tokens: number, now: number): number | undefined {
    const ms = this.#pace.expectedMs(tokens);
    return ms === undefined ? undefined : ms / (1 - this.#shareAt(now));
  }

  /** Milliseconds for all waiting requests; 0 before there are measurements. */
  totalMs(works: readonly RequestWork[]): number {
    return this.#msOf(works.reduce((sum, work) => sum + work.remainingTokens, 0));
  }

  /** Upper bound of all forecasts for waiting requests. @param tokens of all of them */
  longestMs(tokens: number): number {
    return (2 * this.#msOf(tokens)) / (1 - LARGEST_SHARE);
  }

  /**
   * Requests that would miss their deadline if all others were computed. None before there are measurements.
   *
   * @param waiting all waiting requests, in any order
   * @param quantum Q of the batch rule
   * @param sentMs  milliseconds that the backend still needs for the batches that were sent
   * @param margin  factor by which forecasts are multiplied; above 1 allows for a backend that becomes slower
   * @returns milliseconds until each of them would be done
   */
  late<Each extends Expected>(
    waiting: readonly Each[],
    {
      quantum,
      sentMs,
      margin,
      now,
    }: { readonly quantum: number; readonly sentMs: number; readonly margin: number; readonly now: number },
  ): ReadonlyMap<Each, number> {
    const late = new Map<Each, number>();
    const byWork = new Map(waiting.map((each) => [each.work, each]));
    const { small, middle, long } = sizesOf([...byWork.keys()], quantum);
    let before = 0;
    const check = (work: RequestWork, msOf: (tokens: number) => number) => {
      const each = byWork.get(work);
      const tokens = before + work.remainingTokens;
      const endMs = sentMs + margin * msOf(tokens);
      if (each?.isRefusable && endMs > each.leftMs) late.set(each, endMs);
      else before = tokens;
    };
    const besideLong = (tokens: number) => (long.length > 0 ? 2 * tokens + quantum : tokens);
    for (const work of [...small, ...middle]) check(work, (tokens) => this.#msOf(besideLong(tokens)));
    const oldestFirst = [...long].sort((a, b) => a.order - b.order);
    for (const work of oldestFirst) check(work, (tokens) => this.longMs(tokens, now) ?? 0);
    return late;
  }

  /** The overtaking share decays from batch to batch. */
  #shareAt(now: number): number {
    const { share, notedAt } = this.#overtaking;
    return share * 0.5 ** (Math.max(0, now - notedAt) / HALF_LIFE_MS);
  }

  #msOf(tokens: number): number {
    return this.#pace.expectedMs(tokens) ?? 0;
  }
}

/** A request that waits or runs, and the time it has left. */
export interface Expected {
  readonly work: RequestWork;
  /** Milliseconds to its deadline. */
  readonly leftMs: number;
  /** False once the request has begun, because begun requests are finished. */
  readonly isRefusable: boolean;
}
