import type { Encoding } from "tokenizers";
import type {
  RenderedCandidate,
  RenderedQuestion,
  RenderedRequest,
  TextTokens,
} from "../../decisions/request.ts";
import { MAX_ISSUES } from "../../errors.ts";
import { type Node, nodeBelow, pathLength } from "../nodes.ts";
import { checkVocabulary, invalid, LibraryEncoder, parseTokenizer } from "./library-encoder.ts";
import { encodeByParts, framed, type PartEncoder, RecentParts, type TextPart } from "./part-plan.ts";
import type {
  EncodedRequest,
  SpelledToken,
  TextCacheCounters,
  TextRole,
  Tokenizer,
  TokenLimits,
  TooLongText,
  TooManyTokens,
} from "./tokenizer.ts";

/** The special tokens around the two texts of a pair: `before` first `between` second `after`. */
export interface PairFrame {
  readonly before: readonly number[];
  readonly between: readonly number[];
  readonly after: readonly number[];
  /** Token types: all 0, or 0 up to the first separator (the first token of `between`) and 1 after it, or others. */
  readonly types: "zero" | "by-separator" | "other";
}

/** Tokenizes the texts of pairs, for any tokenizer.json of an encoder. */
export interface PairEncoder {
  readonly library: LibraryEncoder;
  readonly frame: PairFrame;
}

/**
 * @param json       text of a tokenizer.json
 * @param vocabulary number of ids that the model knows, if known
 * @throws ServiceError INVALID_MODEL for a file that cannot be read, that does not fit the model, or that makes no
 * pairs
 */
export async function openPairEncoder(json: string, vocabulary: number | undefined): Promise<PairEncoder> {
  const library = await LibraryEncoder.open(parseTokenizer(json), vocabulary);
  const frame = frameOf(await library.encodePair("a", "b"));
  checkVocabulary(1 + Math.max(...frame.before, ...frame.between, ...frame.after), vocabulary);
  return { library, frame };
}

/** The two texts of a pair, in the order in which the model reads them. */
export interface PairTexts {
  readonly first: string;
  readonly second: string;
}

/** What the texts of a pair are made of. */
export interface QuestionTexts {
  readonly form: RenderedQuestion["form"];
  readonly state: string;
  readonly question: string;
  /** What the request says of the candidate, without its label. */
  readonly candidate: string;
}

/** How a model reads questions. */
export interface PairModel {
  /** Maximum tokens of a pair, special tokens included. */
  readonly maxTokens: number;
  readonly textsOf: (asked: QuestionTexts) => PairTexts;
}

const NONE = new Int32Array(0);

/**
 * For models that read two texts with special tokens around them, each tokenized by itself, as the library does it:
 *
 *     [CLS] first [SEP] second [SEP]
 */
export class PairTokenizer implements Tokenizer {
  readonly #library: LibraryEncoder;
  readonly #frame: PairFrame;
  readonly #recent: RecentParts;
  readonly #model: PairModel;

  constructor({ library, frame }: PairEncoder, model: PairModel) {
    this.#library = library;
    this.#frame = frame;
    this.#recent = new RecentParts(library);
    this.#model = model;
  }

  readTexts(texts: readonly string[]): Promise<readonly TextTokens[]> {
    return this.#library.readTexts(texts);
  }

  textCache(): TextCacheCounters {
    return this.#recent.counters;
  }

  async spell(_role: TextRole, _text: string, ids: Int32Array): Promise<readonly SpelledToken[]> {
    return this.#library.spell(ids.map((id) => (id < 0 ? ~id : id)));
  }

  async encodeRequest(
    request: RenderedRequest,
    limits: TokenLimits,
    signal: AbortSignal,
  ): Promise<EncodedRequest> {
    const pairs = await this.#encodePairs(request, signal);
    // a text by itself has hardly more tokens than its pair
    const most = Math.min(limits.maxStateQuestionTokens, limits.maxCandidateTokens);
    const areShort =
      pairs.tooLong.length === 0 && pairs.plan.flat().every((leaf) => pathLength(leaf) <= most);
    if (areShort && request.questions.every(areRead)) return pairs;
    const tooLong = await this.#findTooLong(request, limits, signal);
    return tooLong.length > 0 ? { plan: [], tooLong } : pairs;
  }

  /** The texts of the request by themselves: which of them a caller must shorten. */
  async #findTooLong(
    request: RenderedRequest,
    limits: TokenLimits,
    signal: AbortSignal,
  ): Promise<readonly TooLongText[]> {
    const { before, between, after } = this.#frame;
    const none = { before: [], after: [] };
    const frames = { state: { before, after: between }, question: none, candidate: { before: [], after } };
    const recent: PartEncoder = {
      encodeParts: (parts, options) => this.#recent.encodeParts(parts.map(inAnyRole), options),
    };
    const questions = request.questions.map((asked) => ({
      ...asked,
      candidates: asked.candidates.map((candidate) => ({ ...candidate, text: saidOf(candidate) })),
    }));
    return (await encodeByParts({ ...request, questions }, limits, framed(recent, frames), signal)).tooLong;
  }

  async #encodePairs({ state, questions }: RenderedRequest, signal: AbortSignal): Promise<EncodedRequest> {
    const { maxTokens, textsOf } = this.#model;
    const tooLong: TooLongText[] = [];
    const plan: (readonly Node[])[] = [];
    for (const { form, question, candidates } of questions) {
      const pairs = form === "noul" ? candidates.slice(-1) : candidates;
      const texts = pairs.map((candidate) =>
        textsOf({ form, state: state.text, question: question.text, candidate: saidOf(candidate) }),
      );
      const encoded = await this.#encodeTexts(texts, signal);
      const tokens = encoded.map((pair) => (pair instanceof Int32Array ? pair : NONE));
      for (const [at, { loc }] of pairs.entries()) {
        const actual = encoded[at];
        if (actual === undefined || actual instanceof Int32Array) continue;
        tooLong.push({ what: "pair", loc: form === "noul" ? question.loc : loc, maxTokens, actual });
      }
      plan.push(form === "noul" ? outcomes(tokens[0] ?? NONE) : tokens.map(wholePair));
    }
    return { plan, tooLong };
  }

  async #encodeTexts(
    texts: readonly PairTexts[],
    signal: AbortSignal,
  ): Promise<readonly (Int32Array | TooManyTokens)[]> {
    const { before, between, after } = this.#frame;
    const { maxTokens } = this.#model;
    const room = maxTokens - before.length - between.length - after.length;
    const distinct = [...new Set(texts.flatMap(({ first, second }) => [first, second]))];
    const parts = distinct.map((text) => inAnyRole({ text, maxTokens: room }));
    const encoded = await this.#recent.encodeParts(parts, { maxTooMany: MAX_ISSUES, signal });
    const byText = new Map(distinct.map((text, at) => [text, encoded[at] ?? NONE]));
    return texts.map(({ first, second }) => {
      const [a, b] = [byText.get(first) ?? NONE, byText.get(second) ?? NONE];
      const count = maxTokens - room + countOf(a) + countOf(b);
      if (!(a instanceof Int32Array && b instanceof Int32Array) || count > maxTokens)
        return { count, isExact: isExact(a) && isExact(b) };
      return Int32Array.from([...before, ...a, ...between, ...b, ...after]);
    });
  }
}

/** A text has the same tokens wherever it stands in a pair. */
const inAnyRole = ({ text, maxTokens }: Omit<TextPart, "role">): TextPart => ({
  role: "candidate",
  text,
  maxTokens,
});

/** Whether each text of the candidates is in a pair. Of a yes/no question, only what is said of `true` is read. */
const areRead = ({ form, candidates: [first] }: RenderedQuestion) =>
  form !== "noul" || first === undefined || saidOf(first) === "";

/** What the request says of a candidate. */
const saidOf = ({ text, given }: RenderedCandidate) => given ?? text;

/**
 * A yes/no question is one pair, whose outputs are read twice. `false` asks for the second reading: its last token is complemented.
 * The other tokens are the same node for both, so that the pair is computed and counted once.
 */
function outcomes(pair: Int32Array): readonly Node[] {
  const question = nodeBelow(NO_STATE, pair.slice(0, -1));
  const last = pair.at(-1) ?? 0;
  return [~last, last].map((id) => nodeBelow(question, Int32Array.of(id)));
}

/** Pairs share no computation, so nothing is above them. */
const NO_STATE = nodeBelow(undefined, NONE);
const NO_QUESTION = nodeBelow(NO_STATE, NONE);

const wholePair = (pair: Int32Array): Node => nodeBelow(NO_QUESTION, pair);

type Encoded = Int32Array | TooManyTokens;

const countOf = (tokens: Encoded) => (tokens instanceof Int32Array ? tokens.length : tokens.count);

const isExact = (tokens: Encoded) => tokens instanceof Int32Array || tokens.isExact;

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
  const [before, between, after] = [
    ids.slice(0, beforeEnd),
    ids.slice(firstEnd, secondBegin),
    ids.slice(secondEnd),
  ];
  if (!isInOrder || between.length === 0 || after.length === 0)
    throw invalid(
      "puts no special tokens between and after the two texts of a pair; expected a post-processor for pairs",
    );
  const changes = types.every((type, at) => type === (at > firstEnd ? 1 : 0));
  const isZero = types.every((type) => type === 0);
  return { before, between, after, types: isZero ? "zero" : changes ? "by-separator" : "other" };
}
