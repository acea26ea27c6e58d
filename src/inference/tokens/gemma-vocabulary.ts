import { ServiceError } from "../../errors.ts";

/** What a tokenizer.json of Gemma's kind says about every text's tokens. */
export interface VocabularyFacts {
  /** Most UTF-16 code units of a text that one token stands for. */
  readonly longestToken: number;
  /**
   * Whether runs of newlines are cut out of a text before anything else. Then a text's tokens are those of its runs of newlines and of
   * what stands between them, one after the other, whatever these are.
   */
  readonly separatesNewlines: boolean;
  /** The token for what the vocabulary lacks. */
  readonly unknownId: number;
}

/**
 * Reads what bounds the number of tokens from below, and where texts can be cut.
 *
 * **Length.** Every character of a text ends in a token: the normalizer puts one character for another, the pre-tokenizer drops none,
 * and what the vocabulary lacks becomes the bytes of one character, a token each. So a token stands for at most as much text as
 * the longest entry has.
 *
 * **Newlines.** Added tokens are cut out first: from the left, at each place the longest that begins there. Suppose that each added token
 * with a newline consists of newlines, that a single newline is one of them, and that none depends on what stands beside it
 * (`single_word`, `lstrip`, `rstrip`) or on the normalizer. Then no other added token covers a newline, every newline is covered, and a run
 * of them is covered from its beginning: so its tokens are a matter of its length, and what stands between two runs is worked
 * on apart.
 *
 * @param file parsed tokenizer.json: BPE with byte fallback
 * @throws ServiceError INVALID_MODEL for any other, since the above is not about it
 */
export function readVocabulary(file: unknown): VocabularyFacts {
  const model = member(file, "model");
  const vocabulary = member(model, "vocab");
  if (
    member(model, "type") !== "BPE" ||
    member(model, "byte_fallback") !== true ||
    member(model, "dropout") ||
    member(model, "continuing_subword_prefix") ||
    member(model, "end_of_word_suffix") ||
    !isRecord(vocabulary) ||
    !isCharacterForCharacter(member(file, "normalizer")) ||
    !keepsAll(member(file, "pre_tokenizer"))
  ) {
    throw invalid("byte-pair encoding with byte fallback, with at most one replaced character");
  }
  for (let byte = 0; byte < 256; byte++) {
    const name = `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
    if (!Object.hasOwn(vocabulary, name)) throw invalid(`a token for each byte; ${name} is missing`);
  }
  const added = readAddedTokens(member(file, "added_tokens"));
  const unknownId = vocabulary[String(member(model, "unk_token"))];
  if (typeof unknownId !== "number") throw invalid("a token for unknown characters");
  let longestToken = 2; // the bytes of a character that is two code units
  for (const token in vocabulary) longestToken = Math.max(longestToken, token.length);
  for (const { content } of added) longestToken = Math.max(longestToken, content.length);
  if (added.some(({ strips }) => strips)) longestToken = Number.POSITIVE_INFINITY; // takes any number of spaces along
  return { longestToken, separatesNewlines: separatesNewlines(added), unknownId };
}

interface AddedToken {
  readonly content: string;
  /** Takes spaces beside it along. */
  readonly strips: boolean;
  /** Found in the text as it came, whatever stands beside it. */
  readonly isPlain: boolean;
}

function readAddedTokens(list: unknown): readonly AddedToken[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) throw invalid("a list of added tokens");
  return list.map((token) => {
    const content = member(token, "content");
    if (typeof content !== "string") throw invalid("a content for each added token");
    const strips = member(token, "lstrip") === true || member(token, "rstrip") === true;
    const isPlain = !strips && member(token, "single_word") !== true && member(token, "normalized") === false;
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

/** No normalizer, or Gemma's, which puts a mark for each space. */
function isCharacterForCharacter(normalizer: unknown): boolean {
  if (normalizer === null || normalizer === undefined) return true;
  const pattern = member(member(normalizer, "pattern"), "String");
  const content = member(normalizer, "content");
  return (
    member(normalizer, "type") === "Replace" &&
    typeof pattern === "string" &&
    typeof content === "string" &&
    pattern.length === 1 &&
    content.length === 1
  );
}

/** No pre-tokenizer, or Gemma's, which cuts at spaces (there are none left). */
function keepsAll(preTokenizer: unknown): boolean {
  if (preTokenizer === null || preTokenizer === undefined) return true;
  return member(preTokenizer, "type") === "Split" && member(preTokenizer, "behavior") !== "Removed";
}

function member(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(expected: string): ServiceError {
  return new ServiceError("INVALID_MODEL", `tokenizer.json is not supported: ${expected}.`);
}
