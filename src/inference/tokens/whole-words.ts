import { isDeepStrictEqual } from "node:util";
import type { Encoding, Tokenizer as Library } from "tokenizers";

/**
 * Maximum length of a text that is read, in UTF-16 code units. Measured: its words take 1 to 3 ms of the main thread, without the
 * ids of other words.
 */
const LONGEST_READ = 32_768;
/** Printable ASCII and the white space that all tokenizers split at. */
const PLAIN = /^[\t\n\r -~]*$/;
/** BERT's pre-tokenizer splits plain texts at white space, and every character of punctuation is a word. */
const WORDS = /[A-Za-z0-9]+|[^\sA-Za-z0-9]/g;

/** Number of words whose ids are kept, which makes looking them up ten times as fast. Chosen: they take less than 1 MiB. */
const MOST_KEPT = 8192;
/** Length of the longest words that are kept. Longer substrings would keep their whole text in memory (V8). */
const LONGEST_KEPT = 12;

/** Every printable ASCII character, between letters, doubled, and at the ends of words; white space of each kind. */
const SAMPLE = `${Array.from({ length: 0x7f - 0x20 }, (_, at) => String.fromCharCode(0x20 + at))
  .map((character) => `${character}a${character}9${character}${character} b${character} The `)
  .join("")}a\tb\nc\rd unquestionably`;

/** A text in words. */
export interface SplitText {
  /** [words] token id of each word that is one token of the vocabulary; undefined for other words */
  readonly ids: readonly (number | undefined)[];
  /** The other words, separated by spaces; empty if there are none. */
  readonly others: string;
  /** The token ids of the text. @param others the encoding of its other words */
  idsWith(others: Encoding | undefined): number[];
}

/**
 * Looks up the words of plain texts in the vocabulary, which is several times as fast as encoding the texts. WordPiece takes the
 * longest piece of a word first, so a word of the vocabulary is one token. Words are tokenized separately, so the other words
 * have the same tokens in a text of their own.
 */
export class WholeWords {
  readonly #library: Library;
  readonly #longestWord: number;
  readonly #isCased: boolean;
  /** Ids of words that texts had. All are words of the vocabulary. */
  readonly #kept = new Map<string, number>();

  private constructor(library: Library, longestWord: number, isCased: boolean) {
    this.#library = library;
    this.#longestWord = longestWord;
    this.#isCased = isCased;
  }

  /**
   * Undefined for a tokenizer that does not split plain texts as BERT's does: then a sample has other tokens.
   *
   * @param library     a tokenizer of the kind WordPiece
   * @param longestWord characters of the longest word that is read as a whole
   */
  static async of(library: Library, longestWord: number): Promise<WholeWords | undefined> {
    const encode = (text: string) => library.encode(text, null, { addSpecialTokens: false });
    const isCased = (await encode("A")).getTokens()[0] !== "a";
    const words = new WholeWords(library, longestWord, isCased);
    const sample = `${SAMPLE} ${"a".repeat(longestWord)} ${"7".repeat(longestWord)}`;
    const split = words.split(sample);
    const found = split?.idsWith(split.others === "" ? undefined : await encode(split.others));
    return isDeepStrictEqual(found, (await encode(sample)).getIds()) ? words : undefined;
  }

  /** Undefined for a text that must be encoded as a whole: it is not plain, or too long, or has a word that is. */
  split(text: string): SplitText | undefined {
    if (text.length > LONGEST_READ || !PLAIN.test(text)) return undefined;
    const words = (this.#isCased ? text : text.toLowerCase()).match(WORDS) ?? [];
    const others: string[] = [];
    const ids: (number | undefined)[] = [];
    for (const word of words) {
      if (word.length > this.#longestWord) return undefined;
      const id = this.#kept.get(word) ?? this.#lookUp(word);
      if (id === undefined) others.push(word);
      ids.push(id);
    }
    return { ids, others: others.join(" "), idsWith: (encoding) => joined(ids, encoding) };
  }

  #lookUp(word: string): number | undefined {
    const id = this.#library.tokenToId(word) ?? undefined;
    const isKept = id !== undefined && word.length <= LONGEST_KEPT && this.#kept.size < MOST_KEPT;
    if (isKept) this.#kept.set(word, id);
    return id;
  }
}

function joined(ids: SplitText["ids"], others: Encoding | undefined): number[] {
  const pieces = others?.getIds() ?? [];
  const wordOf = others?.getWordIds() ?? [];
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
