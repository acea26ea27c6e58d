import { isDeepStrictEqual } from "node:util";
import { ServiceError } from "../../errors.ts";
import { memberOf } from "../../records.ts";

/** How a tokenizer.json splits texts into words, as far as the look-up and the counting of long texts depend on it. */
export interface WordRules {
  readonly isCased: boolean;
  /** Longest word that is read as a whole, in characters. */
  readonly longestWord: number;
  /** Lower bound for the tokens of the whole text that a piece accounts for, from its own tokens and the number of its ends that cut a word. */
  fewestTokens(counted: number, cuts: number): number;
}

/** BERT's pre-tokenizer splits plain texts at white space, and every character of punctuation is a word. */
export const PLAIN_WORDS = /[A-Za-z0-9]+|[^\sA-Za-z0-9]/g;

/**
 * Reads the rules of a tokenizer.json, of one of two kinds:
 *
 * - BERT's normalizer and pre-tokenizer. A `Split` may follow that splits longer words into runs.
 * - Patterns, as `training/text_rules.py` writes them: a normalizer of decompositions, lower case and replacements, and a
 *   pre-tokenizer that removes what separates words and splits the rest into words of limited length. The patterns may only
 *   consist of classes of characters, so that they are fast and cut no text at a distance, and must split plain ASCII texts
 *   as BERT's do.
 *
 * @throws ServiceError INVALID_MODEL for any other kind, for which the bound does not hold
 */
export function readWordRules(file: unknown): WordRules {
  const [normalizer, preTokenizer] = [memberOf(file, "normalizer"), memberOf(file, "pre_tokenizer")];
  const longestWord = memberOf(memberOf(file, "model"), "max_input_chars_per_word");
  const isWordPiece = memberOf(memberOf(file, "model"), "type") === "WordPiece";
  if (isWordPiece && typeof longestWord === "number" && longestWord > 0) {
    if (memberOf(normalizer, "type") === "BertNormalizer") {
      const isCased = memberOf(normalizer, "lowercase") !== true;
      const isPlain = memberOf(preTokenizer, "type") === "BertPreTokenizer";
      if (isPlain) return { isCased, longestWord, fewestTokens: fewestTokens(longestWord, 1) };
      if (isDeepStrictEqual(preTokenizer, bertInRuns(longestWord)))
        return { isCased, longestWord, fewestTokens: fewestTokens(longestWord, longestWord) };
    }
    const steps = members(normalizer, "normalizers");
    const isCased = !steps.some((step) => memberOf(step, "type") === "Lowercase");
    const plain = isCased ? PLAIN_TEXT : PLAIN_TEXT.toLowerCase();
    const splits = members(preTokenizer, "pretokenizers");
    if (steps.length > 0 && steps.every(leavesPlainTexts) && splitsAsBert(splits, plain, longestWord)) {
      return { isCased, longestWord, fewestTokens: fewestTokens(longestWord, longestWord) };
    }
  }
  const expected = "a BERT WordPiece tokenizer with one of the kinds of rules that docs/models.md names";
  throw new ServiceError("INVALID_MODEL", `tokenizer.json is not ${expected}.`);
}

/** A separate function, because a closure in the function above would keep the parsed file in memory (8 MB). */
function fewestTokens(margin: number, run: number): WordRules["fewestTokens"] {
  return (counted, cuts) => (cuts === 0 ? counted : Math.floor(Math.max(0, counted - cuts * margin) / run));
}

/** BERT's pre-tokenizer, and words longer than `longestWord` characters split into runs of that length. */
function bertInRuns(longestWord: number): object {
  const pattern = { Regex: `[\\s\\S]{${longestWord}}` };
  const runs = { type: "Split", pattern, behavior: "Isolated", invert: false };
  return { type: "Sequence", pretokenizers: [{ type: "BertPreTokenizer" }, runs] };
}

function splitsAsBert(
  [blanks, words, ...others]: readonly unknown[],
  plain: string,
  longestWord: number,
): boolean {
  const blank = splitPattern(blanks, "Removed");
  const word = splitPattern(words, "Isolated");
  if (others.length > 0 || blank === undefined || word === undefined) return false;
  const read = (text: string) => text.split(blank).flatMap((part) => part.match(word) ?? []);
  return (
    isDeepStrictEqual(read(plain), [...(plain.match(PLAIN_WORDS) ?? [])]) &&
    isDeepStrictEqual(read("a\tb\nc\rd e"), ["a", "b", "c", "d", "e"]) &&
    read("a".repeat(2 * longestWord)).length === 2
  );
}

/** Every printable ASCII character, between letters, doubled, and at the ends of words. */
const PLAIN_TEXT = Array.from({ length: 0x7f - 0x20 }, (_, at) => String.fromCharCode(0x20 + at))
  .map((character) => `${character}a${character}9${character}${character} b${character} `)
  .join("");

function leavesPlainTexts(step: unknown): boolean {
  const type = memberOf(step, "type");
  if (type === "NFD" || type === "NFKD" || type === "Lowercase") return true;
  const pattern = classPattern(memberOf(step, "pattern"));
  const content = memberOf(step, "content");
  if (type !== "Replace" || pattern === undefined || typeof content !== "string") return false;
  return PLAIN_TEXT.replace(pattern, content) === PLAIN_TEXT;
}

function splitPattern(step: unknown, behavior: string): RegExp | undefined {
  const isSplit =
    memberOf(step, "type") === "Split" &&
    memberOf(step, "behavior") === behavior &&
    memberOf(step, "invert") === false;
  return isSplit ? classPattern(memberOf(step, "pattern")) : undefined;
}

/**
 * A pattern that consists of alternatives of classes, with at most one count in each. An alternative that matches only places
 * begins with what stands before the place: the library crashes if such a place is the beginning of a text.
 */
function classPattern(pattern: unknown): RegExp | undefined {
  const source = memberOf(pattern, "Regex");
  if (typeof source !== "string" || !CLASS_PATTERN.test(source)) return undefined;
  try {
    return new RegExp(source, "gu");
  } catch {
    return undefined; // such as a range whose end comes before its beginning
  }
}

const CLASS_PATTERN = classPatternGrammar();

function classPatternGrammar(): RegExp {
  const code = "\\\\(?:u[0-9A-F]{4}|[sS]|p\\{[A-Z][a-z]?\\})";
  const atom = `(?:\\[\\^?(?:${code}|[^\\\\[\\]])+\\]|${code}|[^\\\\()[\\]{}|.*+?^$])`;
  const around = `\\(\\?<?[=!]${atom}\\)`;
  const count = "(?:\\+|\\{\\d+(?:,\\d+)?\\})";
  const place = `\\(\\?<=${atom}\\)${around}`;
  const characters = `(?:${around})*${atom}+(?:${count}${atom}*)?(?:${around})*`;
  const alternative = `(?:${place}|${characters})`;
  return new RegExp(`^${alternative}(?:\\|${alternative})*$`, "u");
}

function members(value: unknown, name: string): readonly unknown[] {
  const list = memberOf(value, "type") === "Sequence" ? memberOf(value, name) : undefined;
  return Array.isArray(list) ? list : [];
}
