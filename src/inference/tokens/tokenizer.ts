import type { RenderedRequest, RenderedText, TextReader } from "../../decisions/request.ts";
import type { RequestPlan } from "../nodes.ts";

export interface TokenLimits {
  readonly maxStateQuestionTokens: number;
  readonly maxCandidateTokens: number;
}

/** A token count above a limit. */
export interface TooManyTokens {
  /** Special tokens included. */
  readonly count: number;
  /** False if `count` is a lower bound: a part of the text was enough to refuse it. */
  readonly isExact: boolean;
}

/** A text above a token limit, alone or together with the texts before it. */
export interface TooLongText {
  readonly loc: RenderedText["loc"];
  readonly what: "state" | "state and question" | "candidate" | "pair";
  /** Including special tokens, as does `actual`. */
  readonly maxTokens: number;
  readonly actual: TooManyTokens;
}

export interface EncodedRequest {
  /** Meaningless if `tooLong` is not empty. */
  readonly plan: RequestPlan;
  /**
   * In the order of the request. A state that is too long by itself is listed once, at the state. Otherwise state and question
   * together are listed at the question. May stop after MAX_ISSUES entries.
   */
  readonly tooLong: readonly TooLongText[];
}

/** Lookups of texts in the cache of tokenized texts. */
export interface TextCacheCounters {
  readonly hits: number;
  readonly misses: number;
}

/** A text's place in a pair. */
export type TextRole = "state" | "question" | "candidate";

/** A token in a readable form. */
export interface SpelledToken {
  readonly id: number;
  /** The token as the vocabulary spells it. */
  readonly text: string;
  /** The part of the text that it stands for; undefined for special tokens, and for models that read a pair as one text. */
  readonly source?: string | undefined;
  readonly isUnknown: boolean;
}

/**
 * Turns texts into tokens. Each architecture in `models/architectures/` opens one for its tokenizer.json.
 *
 * What the rest of the service relies on:
 *
 * - A row (a field or item of a state) has at least one token (`decisions/texts.ts`).
 * - A UTF-16 code unit becomes at most `MOST_TOKENS_PER_UNIT` tokens (`decisions/rerank/parts.ts`).
 * - A text that is too long is refused after its first pieces. The time does not depend on the length of the rest.
 * - An unsupported file is refused with a message. Check a file before you give it to the library `tokenizers`, which ends the
 *   process for some damaged files (a broken `precompiled_charsmap`).
 */
export interface Tokenizer extends TextReader {
  /**
   * Tokens of each pair of a request. How a pair is split into parts depends only on its own texts.
   *
   * @param signal rejects with its reason once aborted
   */
  encodeRequest(request: RenderedRequest, limits: TokenLimits, signal: AbortSignal): Promise<EncodedRequest>;
  /** Undefined for tokenizers without a cache of texts. */
  textCache?(): TextCacheCounters;
  /** Whether the tokens of a text are cached now. Undefined for tokenizers without a cache. */
  isCached?(role: TextRole, text: string): boolean | undefined;
  /** Tokens in a readable form. @param ids token ids of the text, from a plan */
  spell(role: TextRole, text: string, ids: Int32Array): Promise<readonly SpelledToken[]>;
}

/**
 * UTF-16 code units that are tokenized in one call; a longer text has a call of its own. Chosen: this takes about 8 ms
 * off the main thread, and yields at most three times as many ids, which take 5 ms to fetch on the main thread.
 */
export const GROUP_UNITS = 8_192;

/** Groups consecutive items, each group of at most `most` units in total. A larger item is a group by itself. */
export function groupByUnits<Item>(
  items: readonly Item[],
  unitsOf: (item: Item) => number,
  most: number,
): readonly (readonly Item[])[] {
  const groups: Item[][] = [];
  let room = 0;
  for (const item of items) {
    const units = unitsOf(item);
    const last = groups.at(-1);
    const fits = last !== undefined && units <= room;
    if (fits) last.push(item);
    else groups.push([item]);
    room = (fits ? room : most) - units;
  }
  return groups;
}
