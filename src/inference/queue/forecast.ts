import type { Batch } from "./batch.ts";
import type { Pace } from "./pace.ts";
import type { RequestWork } from "./request-work.ts";
import { sizesOf } from "./size-classes.ts";

/** Chosen: the share follows the traffic within some ten batches. */
const FOLLOWING = 0.1;
/** Characters from which on a request says how many make a token. Chosen. */
const SHORTEST_TEXT = 500;
/** In which the share falls to half while no long request waits. Chosen: traffic that was there a minute ago says little. */
const HALF_LIFE_MS = 10_000;
/** Chosen: long requests have at least half of what is not small, so no forecast needs more. */
const LARGEST_SHARE = 0.9;

/**
 * When requests will end, on the safe side: from the tokens that the batch rule may put before them, and the measured time
 * of tokens.
 *
 * - One that is not long shares each batch with the oldest long one: before its end come those that are not larger and as many
 *   tokens again, or Q/2 if that is more.
 * - A long one has before it all that is older and all that is not long. Later ones that are not long will overtake it too: they are
 *   expected to take the share of the backend that they have had lately.
 */
export class Forecast {
  readonly #pace: Pace;
  /** Tokens and characters of the latest texts. Before: of English, some 5 characters to a token. */
  #seen = { tokens: 200, length: 1_000 };
  /** Share of the tokens that went to requests that are not long while a long one waited. */
  #overtaking = { share: 0, notedAt: 0 };

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** Takes note of a batch that was formed while a long request waited. */
  noteBatch({ tokenCount, longTokens }: Pick<Batch, "tokenCount" | "longTokens">, now: number): void {
    if (tokenCount === 0) return;
    const share = Math.min(LARGEST_SHARE, 1 - longTokens / tokenCount);
    const before = this.#shareAt(now);
    this.#overtaking = { share: before + FOLLOWING * (share - before), notedAt: now };
  }

  /** Takes note of a request whose texts have become tokens. */
  noteTokens(textLength: number, tokens: number): void {
    if (textLength < SHORTEST_TEXT) return; // mostly special tokens
    const kept = 1 - FOLLOWING;
    this.#seen = {
      tokens: kept * this.#seen.tokens + tokens,
      length: kept * this.#seen.length + textLength,
    };
  }

  /** Tokens that texts will have, about. */
  tokensOf(textLength: number): number {
    return (this.#seen.tokens / this.#seen.length) * textLength;
  }

  /** Milliseconds for so many tokens of long requests, beside those that overtake them; undefined before there are measurements. */
  longMs(tokens: number, now: number): number | undefined {
    const ms = this.#pace.expectedMs(tokens);
    return ms === undefined ? undefined : ms / (1 - this.#shareAt(now));
  }

  /** Milliseconds for all that waits; 0 before there are measurements. */
  totalMs(works: readonly RequestWork[]): number {
    return this.#pace.expectedMs(works.reduce((sum, work) => sum + work.remainingTokens, 0)) ?? 0;
  }

  /**
   * Requests that will not be answered in time, were all others computed. None before there are measurements.
   *
   * @param waiting all that wait, in any order
   * @param quantum Q of the batch rule
   * @param sentMs  milliseconds that the backend needs for what it has now
   * @param margin  a forecast is taken times this, so that a promise is kept although the backend becomes slower
   * @returns milliseconds until each would end, by request
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
    if (sentMs + this.#mostMs(waiting.map(({ work }) => work)) * margin <= shortest(waiting)) return late;
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
    const besideLong = (tokens: number) => tokens + (long.length > 0 ? Math.max(tokens, quantum / 2) : 0);
    for (const work of [...small, ...middle]) check(work, (tokens) => this.#msOf(besideLong(tokens)));
    const oldestFirst = [...long].sort((a, b) => a.order - b.order);
    for (const work of oldestFirst) check(work, (tokens) => this.longMs(tokens, now) ?? 0);
    return late;
  }

  /** No forecast is longer: so most of the time none need be made. */
  #mostMs(works: readonly RequestWork[]): number {
    return (2 * this.totalMs(works)) / (1 - LARGEST_SHARE);
  }

  /** Between two batches that are noted, it fades. */
  #shareAt(now: number): number {
    const { share, notedAt } = this.#overtaking;
    return share * 0.5 ** (Math.max(0, now - notedAt) / HALF_LIFE_MS);
  }

  #msOf(tokens: number): number {
    return this.#pace.expectedMs(tokens) ?? 0;
  }
}

/** A request that waits or runs, and its caller's patience. */
export interface Expected {
  readonly work: RequestWork;
  /** Milliseconds to its deadline. */
  readonly leftMs: number;
  /** Not once it has begun: that is finished. */
  readonly isRefusable: boolean;
}

function shortest(waiting: readonly Expected[]): number {
  return waiting.reduce((least, { leftMs }) => Math.min(least, leftMs), Number.POSITIVE_INFINITY);
}
