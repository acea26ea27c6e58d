import { type Encoding, Tokenizer as LibraryTokenizer } from "tokenizers";
import type { TextTokens } from "../../decisions/request.ts";
import { splitsPair } from "../../decisions/texts.ts";
import { ServiceError } from "../../errors.ts";
import { memberOf } from "../../records.ts";
import { groupByUnits } from "../collections.ts";
import { characterMapFault } from "./character-map.ts";
import type { PartEncoder, TextPart } from "./part-plan.ts";
import { withPlainTokens } from "./special-tokens.ts";
import { type SpelledToken, type TooManyTokens, textTokensOf } from "./tokenizer.ts";

/** UTF-16 code units that are tokenized in one call. Chosen as for other tokenizers: 8 ms off the main thread. */
const GROUP_UNITS = 8_192;
/** A longer text is first tokenized up to this many code units per token that it may have. Chosen: English has some 5. */
const UNITS_PER_TOKEN = 8;
/**
 * Tokens beyond the limit that a beginning must have to prove that the text is too long: those at its end may be others in the
 * text. Chosen: a word of WordPiece has at most 100 characters.
 */
const UNSURE_TOKENS = 128;
/** The same for a beginning that ends within a word, as a multiple of the limit. Chosen: a word's tokens depend on its end, but never by so much. */
const UNSURE_SHARE = 3;

const KINDS = ["BPE", "Unigram", "WordPiece"];
const WITHOUT_SPECIAL_TOKENS = { addSpecialTokens: false };

/** The special tokens around the two texts of a pair: `before` first `between` second `after`. */
export interface PairFrame {
  readonly before: Int32Array;
  readonly between: Int32Array;
  readonly after: Int32Array;
  /** Token types: all 0, or 0 up to the first separator (the first token of `between`) and 1 after it, or others. */
  readonly types: "zero" | "by-separator" | "other";
}

/** Tokenizes the texts of pairs with the library `tokenizers`, for any tokenizer.json of an encoder. */
export class PairEncoder implements PartEncoder {
  readonly frame: PairFrame;
  readonly #library: LibraryTokenizer;
  readonly #unknownId: number | undefined;

  private constructor(library: LibraryTokenizer, frame: PairFrame, unknownId: number | undefined) {
    this.#library = library;
    this.frame = frame;
    this.#unknownId = unknownId;
  }

  /**
   * @param json       text of a tokenizer.json
   * @param vocabulary number of ids that the model knows, if known
   * @throws ServiceError INVALID_MODEL for a file that cannot be read, that does not fit the model, or that makes no pairs
   */
  static async open(json: string, vocabulary: number | undefined): Promise<PairEncoder> {
    const { library, unknownId } = load(json, vocabulary);
    const frame = frameOf(await library.encode("a", "b"));
    for (const id of [...frame.before, ...frame.between, ...frame.after])
      if (vocabulary !== undefined && id >= vocabulary) throw tooFew(id + 1, vocabulary);
    return new PairEncoder(library, frame, unknownId);
  }

  /** Tokens of each text without special tokens. `maxTokens` counts none either. */
  async encodeParts(
    parts: readonly TextPart[],
    { maxTooMany, signal }: { readonly maxTooMany: number; readonly signal: AbortSignal },
  ): Promise<readonly (Int32Array | TooManyTokens)[]> {
    const encoded: (Int32Array | TooManyTokens)[] = [];
    let tooMany = 0;
    for (const group of groupByUnits(parts, ({ text }) => text.length, GROUP_UNITS)) {
      if (tooMany >= maxTooMany) break;
      signal.throwIfAborted();
      for (const tokens of await this.#encodeGroup(group, signal)) {
        if (!(tokens instanceof Int32Array)) tooMany += 1;
        encoded.push(tokens);
      }
    }
    return encoded;
  }

  async readTexts(texts: readonly string[]): Promise<readonly TextTokens[]> {
    return (await this.#encode(texts)).map(textTokensOf);
  }

  /** Tokens as the vocabulary spells them. */
  spell(ids: Int32Array): readonly SpelledToken[] {
    return Array.from(ids, (id) => ({
      id,
      text: this.#library.idToToken(id) ?? "",
      isUnknown: id === this.#unknownId,
    }));
  }

  async #encodeGroup(group: readonly TextPart[], signal: AbortSignal) {
    const [only] = group;
    if (group.length === 1 && only !== undefined) return [await this.#encodeLong(only, signal)];
    const encodings = await this.#encode(group.map(({ text }) => text));
    return encodings.map((encoding, at) => tokensOf(encoding, group[at]?.maxTokens ?? 0));
  }

  /** A text of any length. One that is far too long is refused after its beginning. */
  async #encodeLong({ text, maxTokens }: TextPart, signal: AbortSignal) {
    for (let units = (maxTokens + UNSURE_TOKENS) * UNITS_PER_TOKEN; units < text.length; units *= 4) {
      const words = wholeWords(text, units);
      signal.throwIfAborted();
      const [encoding] = await this.#encode([
        words ?? text.slice(0, units - (splitsPair(text, units) ? 1 : 0)),
      ]);
      const unsure = words === undefined ? UNSURE_TOKENS + UNSURE_SHARE * maxTokens : UNSURE_TOKENS;
      const count = (encoding?.getLength() ?? 0) - unsure;
      if (count > maxTokens) return { count, isExact: false };
    }
    signal.throwIfAborted();
    const [encoding] = await this.#encode([text]);
    return encoding === undefined ? NONE : tokensOf(encoding, maxTokens);
  }

  #encode(texts: readonly string[]): Promise<readonly Encoding[]> {
    return this.#library.encodeBatch([...texts], WITHOUT_SPECIAL_TOKENS);
  }
}

const NONE = new Int32Array(0);

function load(json: string, vocabulary: number | undefined) {
  try {
    const file: unknown = JSON.parse(json);
    checkFile(file, vocabulary);
    const plain = withPlainTokens(file, vocabulary);
    const library = LibraryTokenizer.fromString(plain.json);
    library.disableTruncation();
    library.disablePadding();
    for (const [text, id] of plain.added)
      if (library.tokenToId(text) !== id)
        throw invalid("has added tokens whose ids depend on its special tokens");
    return { library, unknownId: unknownIdOf(file) };
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    throw invalid("cannot be read as a tokenizer", cause);
  }
}

function tokensOf(encoding: Encoding, maxTokens: number): Int32Array | TooManyTokens {
  const count = encoding.getLength(); // without fetching the ids, which takes long for a long text
  return count > maxTokens ? { count, isExact: true } : Int32Array.from(encoding.getIds());
}

/** A beginning of a text that ends before a blank between two plain words, where every tokenizer of these kinds splits. */
function wholeWords(text: string, units: number): string | undefined {
  const from = Math.floor(units / 2);
  const found = [...text.slice(from, units).matchAll(/[A-Za-z0-9](?= [A-Za-z0-9])/g)].at(-1);
  return found === undefined ? undefined : text.slice(0, from + found.index + 1);
}

/** The special tokens of a pair of one-token texts. @throws ServiceError INVALID_MODEL for a pair of another form */
function frameOf(pair: Encoding): PairFrame {
  const ids = pair.getIds();
  const types = pair.getTypeIds();
  const sequences = pair.getSequenceIds();
  const isSpecial = pair.getSpecialTokensMask();
  // 0 for a token of the first text, 1 of the second, 2 for a special token
  const kinds = ids.map((_, at) => (isSpecial[at] === 1 ? 2 : (sequences[at] ?? 2)));
  const [beforeEnd, firstEnd] = [kinds.indexOf(0), kinds.lastIndexOf(0) + 1];
  const [secondBegin, secondEnd] = [kinds.indexOf(1), kinds.lastIndexOf(1) + 1];
  const isInOrder = beforeEnd >= 0 && secondBegin >= firstEnd && secondEnd > secondBegin;
  const part = (begin: number, end: number) => Int32Array.from(ids.slice(begin, end));
  const [before, between, after] = [
    part(0, beforeEnd),
    part(firstEnd, secondBegin),
    part(secondEnd, ids.length),
  ];
  if (!isInOrder || between.length === 0 || after.length === 0)
    throw invalid(
      "puts no special tokens between and after the two texts of a pair; expected a post-processor for pairs",
    );
  const changes = types.every((type, at) => type === (at > firstEnd ? 1 : 0));
  const isZero = types.every((type) => type === 0);
  return { before, between, after, types: isZero ? "zero" : changes ? "by-separator" : "other" };
}

/** Checks what would end the process in the library, or fail for single texts in the model. @throws ServiceError INVALID_MODEL */
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
  const size = 1 + largestId(memberOf(model, "vocab"));
  if (vocabulary !== undefined && size > vocabulary) throw tooFew(size, vocabulary);
}

function tooFew(size: number, vocabulary: number): ServiceError {
  return invalid(`has ${size} tokens, but the model knows ${vocabulary} (vocab_size in config.json)`);
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
  let largest = -1;
  for (const id of Object.values(Object(vocabulary))) largest = Math.max(largest, Number(id));
  return largest;
}

function unknownIdOf(file: unknown): number | undefined {
  const model = memberOf(file, "model");
  const id =
    memberOf(model, "unk_id") ?? memberOf(memberOf(model, "vocab"), String(memberOf(model, "unk_token")));
  return typeof id === "number" ? id : undefined;
}

function invalid(what: string, cause?: unknown): ServiceError {
  return new ServiceError("INVALID_MODEL", `tokenizer.json ${what}.`, { cause });
}
