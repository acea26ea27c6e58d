import { setImmediate as turn } from "node:timers/promises";
import { type Encoding, Tokenizer as WordPieces } from "tokenizers";
import type { TextTokens } from "../../decisions/request.ts";
import { splitsPair } from "../../decisions/texts.ts";
import { ServiceError } from "../../errors.ts";
import { memberOf } from "../../records.ts";
import { groupByUnits } from "../collections.ts";
import type { PartEncoder, PartReader, PartRole, TextPart } from "./part-plan.ts";
import { withoutSpecialTokens } from "./special-tokens.ts";
import { type SpelledToken, type TooManyTokens, textTokensOf } from "./tokenizer.ts";
import { countIds, LONGEST_READ, type SplitText, tokenIds, WholeWords } from "./whole-words.ts";
import { readWordRules, type WordRules } from "./word-rules.ts";

/**
 * UTF-16 code units that are tokenized in one piece: as many as words are looked up of. 2,048 tokens of prose are about 10,000
 * units, so ordinary requests take one call. If a piece goes to the library and each unit is a token, it takes 15 ms off the
 * main thread.
 */
const PIECE_UNITS = LONGEST_READ;

const WITHOUT_SPECIAL_TOKENS = { addSpecialTokens: false };

interface SpecialTokens {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/**
 * BERT's WordPiece tokenizer, part by part: state `[CLS] .. [SEP]`, question `.. [SEP]`, candidate `[CLS] .. [SEP]`.
 *
 * The tokens of a long text are first counted piece by piece, and the text is refused as soon as the pieces prove that it is
 * too long. The proof: the tokenizer splits at whitespace, punctuation and CJK characters, and tokenizes each word between
 * them separately. So a piece that ends at whitespace has the same tokens as in the whole text. If 32,768 units have no
 * whitespace, the cut changes the tokens of the word that it splits:
 *
 * - Some tokenizers split words of more than `max_input_chars_per_word` characters into runs of that length. Every run has at
 *   least one token, so a piece with n tokens accounts for at least n / 100 of the whole.
 * - Others turn such a word into one `[UNK]`. A shorter word has at most 100 tokens on either side of the cut, so a piece
 *   with n tokens accounts for at least n - 100 for each of its ends that is a cut.
 *
 * Only texts whose pieces do not prove a refusal are tokenized whole, and their token counts are small.
 */
export class WordPieceEncoder implements PartEncoder, PartReader {
  readonly #wordPieces: WordPieces;
  readonly #wholeWords: WholeWords;
  readonly #special: Readonly<Record<PartRole, SpecialTokens>>;
  readonly #rules: WordRules;

  /**
   * @param json  text of a tokenizer.json: WordPiece with rules that `readWordRules` knows
   * @param words number of the model's word embeddings, if known: every token id is below it
   * @throws ServiceError INVALID_MODEL for any other kind
   */
  constructor(json: string, words?: number) {
    try {
      const file: unknown = JSON.parse(json);
      this.#rules = readWordRules(file);
      if (words !== undefined) checkTokenIds(file, words);
      const texts = withoutSpecialTokens(file);
      if (texts.left.length > 0)
        throw new ServiceError("INVALID_MODEL", "tokenizer.json has added tokens that are not special.");
      const wordPieces = WordPieces.fromString(texts.json ?? json);
      this.#wordPieces = wordPieces;
      this.#wholeWords = new WholeWords((word) => wordPieces.tokenToId(word), this.#rules);
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError("INVALID_MODEL", "tokenizer.json cannot be read as a tokenizer.", { cause });
    }
    this.#wordPieces.disableTruncation();
    this.#wordPieces.disablePadding();
    const [cls, sep] = [this.#idOf("[CLS]"), this.#idOf("[SEP]")];
    this.#idOf("[UNK]");
    this.#special = {
      state: { before: [cls], after: [sep] },
      question: { before: [], after: [sep] },
      candidate: { before: [cls], after: [sep] },
    };
  }

  async encodeParts(
    parts: readonly TextPart[],
    { maxTooMany, signal }: { readonly maxTooMany: number; readonly signal: AbortSignal },
  ): Promise<readonly (Int32Array | TooManyTokens)[]> {
    const encoded: (Int32Array | TooManyTokens)[] = [];
    let tooMany = 0;
    for (const group of groupByUnits(parts, ({ text }) => text.length, PIECE_UNITS)) {
      if (tooMany >= maxTooMany) return encoded;
      if (encoded.length > 0) await turn(); // a group whose words are all known takes some milliseconds of the main thread
      signal.throwIfAborted();
      const results = await this.#encodeGroup(group, signal);
      tooMany += results.filter((result) => !(result instanceof Int32Array)).length;
      encoded.push(...results);
    }
    return encoded;
  }

  async readTexts(texts: readonly string[]): Promise<readonly TextTokens[]> {
    return (await this.#wordPieces.encodeBatch([...texts], WITHOUT_SPECIAL_TOKENS)).map(textTokensOf);
  }

  async spell(role: PartRole, text: string, ids: Int32Array): Promise<readonly SpelledToken[]> {
    const encoding = await this.#wordPieces.encode(text, null, WITHOUT_SPECIAL_TOKENS);
    const characters = Array.from(text); // offsets count code points
    const sources = encoding.getOffsets().map(([start, end]) => characters.slice(start, end).join(""));
    const before = this.#special[role].before.length;
    const unknownId = this.#wordPieces.tokenToId("[UNK]");
    return Array.from(ids, (id, at) => ({
      id,
      text: this.#wordPieces.idToToken(id) ?? "",
      source: sources[at - before],
      isUnknown: id === unknownId,
    }));
  }

  async #encodeGroup(
    group: readonly TextPart[],
    signal: AbortSignal,
  ): Promise<(Int32Array | TooManyTokens)[]> {
    const [first] = group;
    if (first !== undefined && first.text.length > PIECE_UNITS) {
      const proof = await this.#refuseByPieces(first, signal);
      if (proof !== undefined) return [proof];
    }
    const read = await this.#read(group.map(({ text }) => text));
    return read.map((text, at) => this.#complete(group[at] as TextPart, text)); // one for each
  }

  /** The library encodes whole texts, and only the other words of those that are split. */
  async #read(texts: readonly string[]): Promise<readonly ReadText[]> {
    const split = texts.map((text) => this.#wholeWords.split(text));
    const encodings = await this.#encodeTexts(texts.map((text, at) => split[at]?.others ?? text));
    return split.map((known, at) => ({ split: known, encoding: encodings[at] }));
  }

  /** Undefined for empty texts. */
  async #encodeTexts(texts: readonly string[]): Promise<readonly (Encoding | undefined)[]> {
    const filled = texts.filter((text) => text !== "");
    if (filled.length === 0) return [];
    const encodings = await this.#wordPieces.encodeBatch(filled, WITHOUT_SPECIAL_TOKENS);
    let next = 0;
    return texts.map((text) => (text === "" ? undefined : encodings[next++]));
  }

  /** Counts a long text piece by piece until the count proves that it is too long. */
  async #refuseByPieces(part: TextPart, signal: AbortSignal): Promise<TooManyTokens | undefined> {
    let count = this.#specialCount(part.role);
    for (let at: Cut = { index: 0, isInWord: false }; at.index < part.text.length; ) {
      signal.throwIfAborted();
      const end = pieceEnd(part.text, at.index);
      const [piece] = await this.#read([part.text.slice(at.index, end.index)]);
      const counted = piece ? countOf(piece) : 0;
      count += this.#rules.fewestTokens(counted, Number(at.isInWord) + Number(end.isInWord));
      if (count > part.maxTokens) return { count, isExact: false };
      at = end;
      await turn(); // counting words that are all known does not leave the main thread
    }
    return undefined;
  }

  #complete(part: TextPart, text: ReadText): Int32Array | TooManyTokens {
    const { split, encoding } = text;
    const count = countOf(text) + this.#specialCount(part.role);
    if (count > part.maxTokens) return { count, isExact: true }; // before getIds, which is slow for many tokens
    const ids = split ? tokenIds(split, encoding) : (encoding?.getIds() ?? []);
    const { before, after } = this.#special[part.role];
    return Int32Array.from([...before, ...ids, ...after]);
  }

  #specialCount(role: PartRole): number {
    const { before, after } = this.#special[role];
    return before.length + after.length;
  }

  #idOf(token: string): number {
    const id = this.#wordPieces.tokenToId(token);
    if (id === null) throw new ServiceError("INVALID_MODEL", `tokenizer.json has no ${token} token.`);
    return id;
  }
}

/** A text in tokens, without special ones. */
interface ReadText {
  /** Undefined for a text that was encoded as a whole. */
  readonly split: SplitText | undefined;
  /** Of the other words, or of the whole text; undefined if there is nothing to encode. */
  readonly encoding: Encoding | undefined;
}

function countOf({ split, encoding }: ReadText): number {
  return split ? countIds(split, encoding) : (encoding?.getLength() ?? 0);
}

interface Cut {
  readonly index: number;
  readonly isInWord: boolean;
}

/** End of the piece that begins at `start`: after its last whitespace, or at its maximum length if it has none. */
function pieceEnd(text: string, start: number): Cut {
  const full = start + PIECE_UNITS;
  if (full >= text.length) return { index: text.length, isInWord: false };
  for (let index = full; index > start; index--) {
    if (WHITESPACE.has(text.charCodeAt(index - 1))) return { index, isInWord: false };
  }
  return { index: splitsPair(text, full) ? full - 1 : full, isInWord: true };
}

/** Whitespace at which the pre-tokenizer splits and which the normalizer keeps: tab, line feed, carriage return, space. */
const WHITESPACE: ReadonlySet<number> = new Set([9, 10, 13, 32]);

/** @throws ServiceError INVALID_MODEL if a token's id is no row of the model's word embeddings */
function checkTokenIds(file: unknown, words: number): void {
  const check = (token: unknown, id: unknown) => {
    if (typeof id === "number" && id < words) return;
    const expected = `expected less than ${words}, the number of the model's word embeddings`;
    throw new ServiceError(
      "INVALID_MODEL",
      `tokenizer.json gives ${JSON.stringify(token)} the id ${id}: ${expected}.`,
    );
  };
  const vocabulary = memberOf(memberOf(file, "model"), "vocab");
  // without creating a list of its 50,000 entries, which would slow down the start
  for (const token in vocabulary as object) check(token, memberOf(vocabulary, token));
  const added = memberOf(file, "added_tokens");
  if (Array.isArray(added))
    for (const token of added) check(memberOf(token, "content"), memberOf(token, "id"));
}
