import { type Encoding, Tokenizer as WordPieces } from "tokenizers";
import type { RenderedRequest } from "../decisions/rendered.ts";
import { ServiceError } from "../errors.ts";
import { groupByUnits } from "./groups.ts";
import { encodeByParts, type PartEncoder, type PartRole, type TextPart } from "./part-plan.ts";
import type { EncodedRequest, Tokenizer, TooManyTokens } from "./plan.ts";
import type { TokenLimits } from "./ports.ts";
import { RecentParts } from "./recent-parts.ts";

/**
 * UTF-16 code units that are tokenized in one piece. Chosen: 2,048 tokens of running text are some 10,000, so ordinary
 * requests take one call; and 32,768 of the worst kind (each a token) cost 15 ms off the main thread.
 */
const PIECE_UNITS = 32_768;

const WITHOUT_SPECIAL_TOKENS = { addSpecialTokens: false };

interface SpecialTokens {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/**
 * BERT's WordPiece tokenizer, part by part: state `[CLS] .. [SEP]`, question `.. [SEP]`, candidate `[CLS] .. [SEP]`.
 *
 * A long text is counted piece by piece first, and refused as soon as the pieces prove that it is too long. The proof:
 * the tokenizer looks at whitespace, punctuation and CJK characters one by one and turns each word between them into
 * tokens apart from all others, so a cut changes only the tokens of the word that it touches (accents are reordered and
 * dropped within a word, too) or of a bracketed token such as `[SEP]` written out in the text. On either side of the cut
 * such a word has at most `max_input_chars_per_word` tokens (a longer one becomes a single `[UNK]`), and a bracketed
 * token at most one for each of its characters. So a piece with n tokens has at least n - margin that the whole text
 * has too, for each of its ends that is a cut. The margin is needed: a word of 2 MiB is one token, and its pieces may
 * have more. Only a text whose pieces do not prove a refusal is tokenized as a whole, and then its count is small.
 */
export class PartTokenizer implements Tokenizer, PartEncoder {
  readonly #wordPieces: WordPieces;
  readonly #special: Readonly<Record<PartRole, SpecialTokens>>;
  readonly #margin: number;
  readonly #recent = new RecentParts(this);

  /**
   * @param json text of a tokenizer.json: WordPiece with BERT's normalizer and pre-tokenizer
   * @throws ServiceError INVALID_MODEL for any other
   */
  constructor(json: string) {
    try {
      this.#margin = readMargin(JSON.parse(json));
      this.#wordPieces = WordPieces.fromString(json);
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError("INVALID_MODEL", "The model's tokenizer.json cannot be read.", { cause });
    }
    this.#wordPieces.disableTruncation();
    this.#wordPieces.disablePadding();
    const [cls, sep] = [this.#idOf("[CLS]"), this.#idOf("[SEP]")];
    this.#special = {
      state: { before: [cls], after: [sep] },
      question: { before: [], after: [sep] },
      candidate: { before: [cls], after: [sep] },
    };
  }

  encodeRequest(request: RenderedRequest, limits: TokenLimits, signal: AbortSignal): Promise<EncodedRequest> {
    return encodeByParts(request, limits, this.#recent, signal);
  }

  async encodeParts(
    parts: readonly TextPart[],
    { maxTooMany, signal }: { readonly maxTooMany: number; readonly signal: AbortSignal },
  ): Promise<readonly (Int32Array | TooManyTokens)[]> {
    const encoded: (Int32Array | TooManyTokens)[] = [];
    let tooMany = 0;
    for (const group of groupByUnits(parts, ({ text }) => text.length, PIECE_UNITS)) {
      if (tooMany >= maxTooMany) return encoded;
      signal.throwIfAborted();
      const results = await this.#encodeGroup(group, signal);
      tooMany += results.filter((result) => !(result instanceof Int32Array)).length;
      encoded.push(...results);
    }
    return encoded;
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
    const texts = group.map((part) => part.text);
    const encodings = await this.#wordPieces.encodeBatch(texts, WITHOUT_SPECIAL_TOKENS);
    return group.flatMap((part, at) => {
      const encoding = encodings[at];
      return encoding === undefined ? [] : [this.#complete(part, encoding)];
    });
  }

  /** Counts a long text piece by piece until the count proves that it is too long. */
  async #refuseByPieces(part: TextPart, signal: AbortSignal): Promise<TooManyTokens | undefined> {
    let count = this.#specialCount(part.role);
    for (let start = 0; start < part.text.length; ) {
      signal.throwIfAborted();
      const end = cutAt(part.text, start + PIECE_UNITS);
      const piece = part.text.slice(start, end);
      const encoding = await this.#wordPieces.encode(piece, null, WITHOUT_SPECIAL_TOKENS);
      const cuts = Number(start > 0) + Number(end < part.text.length);
      count += Math.max(0, encoding.getLength() - cuts * this.#margin);
      if (count > part.maxTokens) return { count, isExact: false };
      start = end;
    }
    return undefined;
  }

  #complete(part: TextPart, encoding: Encoding): Int32Array | TooManyTokens {
    const count = encoding.getLength() + this.#specialCount(part.role);
    if (count > part.maxTokens) return { count, isExact: true }; // before getIds, which is slow for many
    const { before, after } = this.#special[part.role];
    return Int32Array.from([...before, ...encoding.getIds(), ...after]);
  }

  #specialCount(role: PartRole): number {
    const { before, after } = this.#special[role];
    return before.length + after.length;
  }

  #idOf(token: string): number {
    const id = this.#wordPieces.tokenToId(token);
    if (id === null) throw new ServiceError("INVALID_MODEL", `The model's tokenizer has no ${token} token.`);
    return id;
  }
}

/** The place nearest before `index` that does not split a surrogate pair. */
function cutAt(text: string, index: number): number {
  if (index >= text.length) return text.length;
  const isLowSurrogate = (text.charCodeAt(index) & 0xfc00) === 0xdc00;
  const isHighSurrogate = (text.charCodeAt(index - 1) & 0xfc00) === 0xd800;
  return isLowSurrogate && isHighSurrogate ? index - 1 : index;
}

/**
 * Most tokens on one side of a cut that need not be in the whole text.
 *
 * @throws ServiceError INVALID_MODEL if the tokenizer is not of the kind that the proof above is about
 */
function readMargin(file: unknown): number {
  const read = (...path: readonly (string | number)[]): unknown => path.reduce(member, file);
  const maxWord = read("model", "max_input_chars_per_word");
  const added = read("added_tokens");
  const contents = Array.isArray(added) ? added.map((token) => member(token, "content")) : [];
  const isKnownKind =
    read("model", "type") === "WordPiece" &&
    read("normalizer", "type") === "BertNormalizer" &&
    read("pre_tokenizer", "type") === "BertPreTokenizer" &&
    typeof maxWord === "number" &&
    contents.every((content) => typeof content === "string" && /^\[[A-Za-z0-9_]+\]$/.test(content));
  if (!isKnownKind) {
    const expected = "a BERT WordPiece tokenizer with added tokens of the form [NAME]";
    throw new ServiceError("INVALID_MODEL", `The model's tokenizer.json is not ${expected}.`);
  }
  return maxWord + Math.max(0, ...contents.map((content) => String(content).length));
}

function member(value: unknown, name: string | number): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
