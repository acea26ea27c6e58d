import { setImmediate as turn } from "node:timers/promises";
import { type Encoding, Tokenizer as Library } from "tokenizers";
import type { TextTokens } from "../../decisions/request.ts";
import { splitsPair } from "../../decisions/texts.ts";
import { ServiceError } from "../../errors.ts";
import { memberOf } from "../../records.ts";
import { characterMapFault } from "./character-map.ts";
import { plainTokenizerFile } from "./special-tokens.ts";
import { GROUP_UNITS, groupByUnits, type SpelledToken, type TooManyTokens } from "./tokenizer.ts";
import { WholeWords } from "./whole-words.ts";

/**
 * A longer text is first tokenized up to this many code units per token that it may have. Chosen: English has some 5.
 */
const UNITS_PER_TOKEN = 8;
/**
 * Tokens beyond the limit that a beginning must have to prove that the text is too long: those at its end may be others
 * in the text. Chosen: a word of WordPiece has at most 100 characters.
 */
const UNSURE_TOKENS = 128;
/**
 * The same for a beginning that ends within a word, as a multiple of the limit. Chosen: a word's tokens depend on its
 * end, but never by so much.
 */
const UNSURE_SHARE = 3;

/**
 * Maximum code units by which a beginning grows. Chosen: the library takes some 100 bytes for a token, and each unit
 * may be one.
 */
const MOST_MORE_UNITS = 65_536;

const KINDS = ["BPE", "Unigram", "WordPiece"];
const WITHOUT_SPECIAL_TOKENS = { addSpecialTokens: false };

/** A text, and the maximum number of its tokens. */
interface LimitedText {
  readonly text: string;
  readonly maxTokens: number;
}

/**
 * Tokenizes texts with the library `tokenizers`, off the main thread and without special tokens: what looks like one in
 * a text is text.
 */
export class LibraryEncoder {
  /** Id of the token for unknown text, if there is one. */
  readonly unknownId: number | undefined;
  readonly #library: Library;
  readonly #special: ReadonlyMap<number, string>;
  readonly #longestWord: number | undefined;
  #words: WholeWords | undefined;

  /**
   * @param file       parsed tokenizer.json
   * @param vocabulary number of ids that the model knows, if known
   * @throws ServiceError INVALID_MODEL for a file that cannot be read, or that does not fit the model
   */
  constructor(file: unknown, vocabulary: number | undefined) {
    const { library, special, unknownId, longestWord } = load(file, vocabulary);
    this.#library = library;
    this.#special = special;
    this.unknownId = unknownId;
    this.#longestWord = longestWord;
  }

  /** The same, and plain words are looked up where the tokenizer allows that. */
  static async open(file: unknown, vocabulary: number | undefined): Promise<LibraryEncoder> {
    const encoder = new LibraryEncoder(file, vocabulary);
    if (encoder.#longestWord !== undefined)
      encoder.#words = await WholeWords.of(encoder.#library, encoder.#longestWord);
    return encoder;
  }

  /** Id of a special token. @throws ServiceError INVALID_MODEL if there is none */
  idOf(token: string): number {
    const [special] = [...this.#special].find(([, text]) => text === token) ?? [];
    const id = special ?? this.#library.tokenToId(token);
    if (id === null) throw invalid(`has no ${token} token`);
    return id;
  }

  /** The encodings of texts. */
  encode(texts: readonly string[]): Promise<readonly Encoding[]> {
    return this.#library.encodeBatch([...texts], WITHOUT_SPECIAL_TOKENS);
  }

  /** A pair of texts with the special tokens of the file around them. */
  encodePair(first: string, second: string): Promise<Encoding> {
    return this.#library.encode(first, second);
  }

  /** The tokens of each text: see `PartEncoder`. */
  async encodeParts(
    parts: readonly LimitedText[],
    { maxTooMany, signal }: { readonly maxTooMany: number; readonly signal: AbortSignal },
  ): Promise<readonly (Int32Array | TooManyTokens)[]> {
    const encoded: (Int32Array | TooManyTokens)[] = [];
    let tooMany = 0;
    for (const group of groupByUnits(parts, ({ text }) => text.length, GROUP_UNITS)) {
      if (tooMany >= maxTooMany) break;
      if (encoded.length > 0) await turn(); // a group whose words are all known takes some milliseconds of the main thread
      signal.throwIfAborted();
      const [only] = group;
      const isOne = only !== undefined && group.length === 1;
      const results = isOne ? [await this.#encodeLong(only, signal)] : await this.#encodeGroup(group);
      tooMany += results.filter((result) => !(result instanceof Int32Array)).length;
      encoded.push(...results);
    }
    return encoded;
  }

  async readTexts(texts: readonly string[]): Promise<readonly TextTokens[]> {
    // the library's offsets count code points; they are read on demand, because reading many is slow
    return (await this.encode(texts)).map((encoding) => ({
      count: encoding.getLength(),
      ends: () => encoding.getOffsets().map(([, end = 0]) => end),
    }));
  }

  /** Tokens as the vocabulary spells them. */
  spell(ids: Int32Array): readonly SpelledToken[] {
    return Array.from(ids, (id) => ({
      id,
      text: this.#special.get(id) ?? this.#library.idToToken(id) ?? "",
      isUnknown: id === this.unknownId,
    }));
  }

  /** The parts of a text that its tokens stand for. */
  async sourcesOf(text: string): Promise<readonly string[]> {
    const characters = Array.from(text); // offsets count code points
    const [encoding] = await this.encode([text]);
    return encoding?.getOffsets().map(([start, end]) => characters.slice(start, end).join("")) ?? [];
  }

  /** The library encodes whole texts, and only the unknown words of those whose words are looked up. */
  async #encodeGroup(group: readonly LimitedText[]): Promise<(Int32Array | TooManyTokens)[]> {
    const split = group.map(({ text }) => this.#words?.split(text));
    const left = group.map(({ text }, at) => split[at]?.others ?? text);
    const filled = left.filter((text) => text !== "");
    const encodings = filled.length === 0 ? [] : await this.encode(filled);
    let next = 0;
    return group.map(({ maxTokens }, at) => {
      const encoding = left[at] === "" ? undefined : encodings[next++];
      const known = split[at]?.ids.filter((id) => id !== undefined).length ?? 0;
      const count = known + (encoding?.getLength() ?? 0); // without fetching the ids, which takes long for a long text
      if (count > maxTokens) return { count, isExact: true };
      return Int32Array.from(split[at]?.idsWith(encoding) ?? encoding?.getIds() ?? []);
    });
  }

  /** A text of any length. One that is far too long is refused after its beginning. */
  async #encodeLong({ text, maxTokens }: LimitedText, signal: AbortSignal) {
    const first = (maxTokens + UNSURE_TOKENS) * UNITS_PER_TOKEN;
    for (let units = first; units < text.length; units += Math.min(3 * units, MOST_MORE_UNITS)) {
      const words = wholeWords(text, units);
      signal.throwIfAborted();
      const [encoding] = await this.encode([
        words ?? text.slice(0, units - (splitsPair(text, units) ? 1 : 0)),
      ]);
      const unsure = words === undefined ? UNSURE_TOKENS + UNSURE_SHARE * maxTokens : UNSURE_TOKENS;
      const count = (encoding?.getLength() ?? 0) - unsure;
      if (count > maxTokens) return { count, isExact: false };
    }
    signal.throwIfAborted();
    const [encoded] = await this.#encodeGroup([{ text, maxTokens }]);
    return encoded ?? new Int32Array(0);
  }
}

/** Parse a file only once: that of the embedded model takes 30 ms. @throws ServiceError INVALID_MODEL */
export function parseTokenizer(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw invalid("cannot be read as a tokenizer", cause);
  }
}

function load(file: unknown, vocabulary: number | undefined) {
  checkFile(file, vocabulary);
  try {
    const plain = plainTokenizerFile(file, vocabulary);
    const library = Library.fromString(plain.json);
    library.disableTruncation();
    library.disablePadding();
    for (const [text, id] of plain.added)
      if (library.tokenToId(text) !== id)
        throw invalid("has added tokens whose ids depend on its special tokens");
    const longestWord = memberOf(memberOf(file, "model"), "max_input_chars_per_word");
    return {
      library,
      special: plain.special,
      unknownId: unknownIdOf(file),
      longestWord: typeof longestWord === "number" ? longestWord : undefined, // of WordPiece alone
    };
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    throw invalid("cannot be read as a tokenizer", cause);
  }
}

/**
 * A beginning of a text that ends before a blank between two plain words, where every tokenizer of these kinds splits.
 */
function wholeWords(text: string, units: number): string | undefined {
  const from = Math.floor(units / 2);
  const found = [...text.slice(from, units).matchAll(/[A-Za-z0-9](?= [A-Za-z0-9])/g)].at(-1);
  return found === undefined ? undefined : text.slice(0, from + found.index + 1);
}

/**
 * Checks what would end the process in the library, or fail for single texts in the model. @throws ServiceError
 * INVALID_MODEL
 */
function checkFile(file: unknown, vocabulary: number | undefined): void {
  const model = memberOf(file, "model");
  const kind = memberOf(model, "type");
  if (typeof kind !== "string" || !KINDS.includes(kind))
    throw invalid(
      `has a model of the kind ${typeof kind === "string" ? JSON.stringify(kind.slice(0, 40)) : "none"}, expected ${KINDS.join(", ")}`,
    );
  for (const map of characterMaps(memberOf(file, "normalizer"))) {
    const fault = typeof map === "string" ? characterMapFault(map) : "is no text";
    if (fault !== undefined) throw invalid(`has a precompiled_charsmap that ${fault}`);
  }
  checkVocabulary(1 + largestId(memberOf(model, "vocab")), vocabulary);
}

/** @throws ServiceError INVALID_MODEL if the tokenizer has more ids than the model */
export function checkVocabulary(size: number, vocabulary: number | undefined): void {
  if (vocabulary !== undefined && size > vocabulary)
    throw invalid(`has ${size} tokens, but the model knows ${vocabulary}`);
}

function characterMaps(normalizer: unknown): readonly unknown[] {
  const inner = memberOf(normalizer, "normalizers");
  const own =
    memberOf(normalizer, "type") === "Precompiled" ? [memberOf(normalizer, "precompiled_charsmap")] : [];
  return [...own, ...(Array.isArray(inner) ? inner.flatMap(characterMaps) : [])];
}

/** A list by id, or ids by token. */
function largestId(vocabulary: unknown): number {
  if (Array.isArray(vocabulary)) return vocabulary.length - 1;
  return Object.values(Object(vocabulary)).reduce<number>((most, id) => Math.max(most, Number(id)), -1);
}

function unknownIdOf(file: unknown): number | undefined {
  const model = memberOf(file, "model");
  const id =
    memberOf(model, "unk_id") ?? memberOf(memberOf(model, "vocab"), String(memberOf(model, "unk_token")));
  return typeof id === "number" ? id : undefined;
}

/** @param what the end of a sentence that begins with the file's name */
export function invalid(what: string, cause?: unknown): ServiceError {
  return new ServiceError("INVALID_MODEL", `tokenizer.json ${what}.`, { cause });
}
