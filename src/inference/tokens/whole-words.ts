import type { Encoding } from "tokenizers";
import { PLAIN_WORDS, type WordRules } from "./word-rules.ts";

/**
 * Maximum length of a text that is read, in UTF-16 code units. Measured: its words take 1 to 3 ms of the main thread, without the
 * ids of other words.
 */
export const LONGEST_READ = 32_768;
/** Printable ASCII and the white space that all tokenizers split at. */
const PLAIN = /^[\t\n\r -~]*$/;

/** Number of words whose ids are kept, which makes looking them up ten times as fast. Chosen: they take less than 1 MiB. */
const MOST_KEPT = 8192;
/** Length of the longest words that are kept. Longer substrings would keep their whole text in memory (V8). */
const LONGEST_KEPT = 12;

/** A text in words. */
export interface SplitText {
  /** [words] token id of each word that is one token of the vocabulary; undefined for other words */
  readonly ids: readonly (number | undefined)[];
  /** The other words, separated by spaces; empty if there are none. */
  readonly others: string;
}

/**
 * Looks up the words of plain texts in the vocabulary, which is several times as fast as encoding the texts. WordPiece takes the
 * longest piece of a word first, so a word of the vocabulary is one token. Words are tokenized separately, so the other words
 * have the same tokens in a text of their own.
 */
export class WholeWords {
  readonly #idOf: (word: string) => number | null;
  /** Ids of words that texts had. All are words of the vocabulary. */
  readonly #kept = new Map<string, number>();
  readonly #isCased: boolean;
  readonly #longestWord: number;

  /**
   * @param idOf token id of a word in the vocabulary
   */
  constructor(
    idOf: (word: string) => number | null,
    { isCased, longestWord }: Pick<WordRules, "isCased" | "longestWord">,
  ) {
    this.#idOf = idOf;
    this.#isCased = isCased;
    this.#longestWord = longestWord;
  }

  /** Undefined for a text that must be encoded as a whole: it is not plain, or too long, or has a word that is. */
  split(text: string): SplitText | undefined {
    if (text.length > LONGEST_READ || !PLAIN.test(text)) return undefined;
    const words = (this.#isCased ? text : text.toLowerCase()).match(PLAIN_WORDS) ?? [];
    const others: string[] = [];
    const ids: (number | undefined)[] = [];
    for (const word of words) {
      if (word.length > this.#longestWord) return undefined;
      const id = this.#kept.get(word) ?? this.#lookUp(word);
      if (id === undefined) others.push(word);
      ids.push(id);
    }
    return { ids, others: others.join(" ") };
  }

  #lookUp(word: string): number | undefined {
    const id = this.#idOf(word) ?? undefined;
    const isKept = id !== undefined && word.length <= LONGEST_KEPT && this.#kept.size < MOST_KEPT;
    if (isKept) this.#kept.set(word, id);
    return id;
  }
}

/** Number of tokens of a text. @param others as in `tokenIds` */
export function countIds({ ids }: SplitText, others: Encoding | undefined): number {
  return ids.filter((id) => id !== undefined).length + (others?.getLength() ?? 0);
}

/** The token ids of a text. @param others the encoding of its other words; undefined if there are none */
export function tokenIds({ ids }: SplitText, others: Encoding | undefined): number[] {
  if (others === undefined) return ids as number[]; // no id is missing
  const pieces = others.getIds();
  const wordOf = others.getWordIds();
  let at = 0;
  let word = -1;
  return ids.flatMap((id) => {
    if (id !== undefined) return id;
    word += 1;
    const begin = at;
    while (at < pieces.length && wordOf[at] === word) at += 1;
    return pieces.slice(begin, at);
  });
}
