import { ServiceError } from "../../errors.ts";
import { isRecord, memberOf } from "../../records.ts";

/** Facts about a tokenizer.json of Gemma's kind that hold for the tokens of every text. */
export interface VocabularyFacts {
  /** Maximum UTF-16 code units of a text that one token stands for. */
  readonly longestToken: number;
  /**
   * Whether runs of newlines are split off before anything else. Then the tokens of a text are the tokens of its runs of
   * newlines and of the texts between them, concatenated.
   */
  readonly separatesNewlines: boolean;
}

/**
 * Determines a lower bound for the number of tokens of a text, and where texts can be split.
 *
 * **Length.** Every character of a text is part of a token: the normalizer replaces characters one by one, the pre-tokenizer
 * drops none, and a character that is not in the vocabulary becomes one token per byte. So a token stands for at most as much
 * text as the longest entry of the vocabulary.
 *
 * **Newlines.** The tokenizer first matches added tokens: from left to right, the longest match at each position. Suppose that
 * each added token with a newline consists only of newlines, that a single newline is one of them, and that none depends on
 * its neighbours (`single_word`, `lstrip`, `rstrip`) or on the normalizer. Then no other added token covers a newline, every
 * newline is covered, and a run of newlines is matched from its beginning. So its tokens depend only on its length, and the
 * texts between two runs are tokenized separately.
 *
 * @param file parsed tokenizer.json: BPE with byte fallback
 * @throws ServiceError INVALID_MODEL for any other kind, for which the above does not hold
 */
export function readVocabulary(file: unknown): VocabularyFacts {
  const model = memberOf(file, "model");
  const vocabulary = memberOf(model, "vocab");
  if (
    memberOf(model, "type") !== "BPE" ||
    memberOf(model, "byte_fallback") !== true ||
    memberOf(model, "dropout") ||
    memberOf(model, "continuing_subword_prefix") ||
    memberOf(model, "end_of_word_suffix") ||
    !isRecord(vocabulary) ||
    !isCharacterForCharacter(memberOf(file, "normalizer")) ||
    !keepsAll(memberOf(file, "pre_tokenizer"))
  ) {
    throw invalid("byte-pair encoding with byte fallback, with at most one replaced character");
  }
  for (let byte = 0; byte < 256; byte++) {
    const name = `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
    if (!Object.hasOwn(vocabulary, name)) throw invalid(`a token for each byte; ${name} is missing`);
  }
  const added = readAddedTokens(memberOf(file, "added_tokens"));
  let longestToken = 2; // the byte tokens of a character of two code units
  for (const token in vocabulary) longestToken = Math.max(longestToken, token.length);
  for (const { content } of added) longestToken = Math.max(longestToken, content.length);
  if (added.some(({ strips }) => strips)) longestToken = Number.POSITIVE_INFINITY; // covers any number of spaces
  return { longestToken, separatesNewlines: separatesNewlines(added) };
}

interface AddedToken {
  readonly content: string;
  /** Whether the token also covers the spaces beside it. */
  readonly strips: boolean;
  /** Whether the token is matched in the text before normalization, independent of its neighbours. */
  readonly isPlain: boolean;
}

function readAddedTokens(list: unknown): readonly AddedToken[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) throw invalid("a list of added tokens");
  return list.map((token) => {
    const content = memberOf(token, "content");
    if (typeof content !== "string") throw invalid("a content for each added token");
    const strips = memberOf(token, "lstrip") === true || memberOf(token, "rstrip") === true;
    const isPlain =
      !strips && memberOf(token, "single_word") !== true && memberOf(token, "normalized") === false;
    return { content, strips, isPlain };
  });
}

function separatesNewlines(added: readonly AddedToken[]): boolean {
  const withNewline = added.filter(({ content }) => content.includes("\n"));
  return (
    !added.some(({ strips }) => strips) &&
    withNewline.some(({ content }) => content === "\n") &&
    withNewline.every(({ content, isPlain }) => isPlain && /^\n+$/.test(content))
  );
}

/** No normalizer, or Gemma's, which replaces each space by a mark. */
function isCharacterForCharacter(normalizer: unknown): boolean {
  if (normalizer === null || normalizer === undefined) return true;
  const pattern = memberOf(memberOf(normalizer, "pattern"), "String");
  const content = memberOf(normalizer, "content");
  return (
    memberOf(normalizer, "type") === "Replace" &&
    typeof pattern === "string" &&
    typeof content === "string" &&
    pattern.length === 1 &&
    content.length === 1
  );
}

/** No pre-tokenizer, or Gemma's, which splits at spaces (the normalizer has left none). */
function keepsAll(preTokenizer: unknown): boolean {
  if (preTokenizer === null || preTokenizer === undefined) return true;
  return memberOf(preTokenizer, "type") === "Split" && memberOf(preTokenizer, "behavior") !== "Removed";
}

function invalid(expected: string): ServiceError {
  return new ServiceError("INVALID_MODEL", `tokenizer.json is not supported: ${expected}.`);
}
