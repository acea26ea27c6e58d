import type {
  RenderedCandidate,
  RenderedQuestion,
  RenderedRequest,
  TextTokens,
} from "../../decisions/request.ts";
import { MAX_ISSUES } from "../../errors.ts";
import { type Node, nodeBelow, pathLength } from "../nodes.ts";
import type { PairEncoder } from "./pair-encoder.ts";
import { RecentParts, type TextPart } from "./part-plan.ts";
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
  readonly #encoder: PairEncoder;
  readonly #recent: RecentParts;
  readonly #model: PairModel;

  constructor(encoder: PairEncoder, model: PairModel) {
    this.#encoder = encoder;
    this.#recent = new RecentParts(encoder);
    this.#model = model;
  }

  readTexts(texts: readonly string[]): Promise<readonly TextTokens[]> {
    return this.#encoder.readTexts(texts);
  }

  textCache(): TextCacheCounters {
    return this.#recent.counters;
  }

  async spell(_role: TextRole, _text: string, ids: Int32Array): Promise<readonly SpelledToken[]> {
    return this.#encoder.spell(ids.map((id) => (id < 0 ? ~id : id)));
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
    { state, questions }: RenderedRequest,
    { maxStateQuestionTokens, maxCandidateTokens }: TokenLimits,
    signal: AbortSignal,
  ): Promise<readonly TooLongText[]> {
    const { before, between, after } = this.#encoder.frame;
    const around = before.length + between.length;
    const [stateTokens] = await this.#encode([state.text], maxStateQuestionTokens - around, signal);
    const stateCount = around + countOf(stateTokens);
    if (stateCount > maxStateQuestionTokens)
      return [{ ...placed("state", state, maxStateQuestionTokens), actual: actual(stateCount, stateTokens) }];
    const ofQuestions = await this.#encode(
      questions.map(({ question }) => question.text),
      maxStateQuestionTokens - stateCount,
      signal,
    );
    const candidates = questions.flatMap((question) => question.candidates);
    const ofCandidates = await this.#encode(
      candidates.map(saidOf),
      maxCandidateTokens - after.length,
      signal,
    );
    const tooLong: TooLongText[] = [];
    let at = 0;
    for (const [index, { question, candidates }] of questions.entries()) {
      const count = stateCount + countOf(ofQuestions[index]);
      if (count > maxStateQuestionTokens)
        tooLong.push({
          ...placed("state and question", question, maxStateQuestionTokens),
          actual: actual(count, ofQuestions[index]),
        });
      for (const candidate of candidates) {
        const tokens = ofCandidates[at++];
        const count = after.length + countOf(tokens);
        if (count > maxCandidateTokens)
          tooLong.push({
            ...placed("candidate", candidate, maxCandidateTokens),
            actual: actual(count, tokens),
          });
      }
    }
    return tooLong;
  }

  async #encodePairs({ state, questions }: RenderedRequest, signal: AbortSignal): Promise<EncodedRequest> {
    const tooLong: TooLongText[] = [];
    const plan: (readonly Node[])[] = [];
    for (const asked of questions) {
      const pairs = asked.form === "noul" ? asked.candidates.slice(-1) : asked.candidates;
      const texts = pairs.map((candidate) =>
        this.#model.textsOf({
          form: asked.form,
          state: state.text,
          question: asked.question.text,
          candidate: saidOf(candidate),
        }),
      );
      const encoded = await this.#encodeTexts(texts, signal);
      const tokens = encoded.map((pair) => (pair instanceof Int32Array ? pair : NONE));
      for (const [at, { loc }] of pairs.entries()) {
        const pair = encoded[at];
        if (pair instanceof Int32Array || pair === undefined) continue;
        const where = asked.form === "noul" ? asked.question : { loc };
        tooLong.push({ ...placed("pair", where, this.#model.maxTokens), actual: pair });
      }
      plan.push(asked.form === "noul" ? outcomes(tokens[0] ?? NONE) : tokens.map(wholePair));
    }
    return { plan, tooLong };
  }

  async #encodeTexts(
    texts: readonly PairTexts[],
    signal: AbortSignal,
  ): Promise<readonly (Int32Array | TooManyTokens)[]> {
    const { before, between, after } = this.#encoder.frame;
    const { maxTokens } = this.#model;
    const room = maxTokens - before.length - between.length - after.length;
    const distinct = [...new Set(texts.flatMap(({ first, second }) => [first, second]))];
    const encoded = await this.#encode(distinct, room, signal);
    const byText = new Map(distinct.map((text, at) => [text, encoded[at]]));
    return texts.map(({ first, second }) => {
      const [a, b] = [byText.get(first), byText.get(second)];
      const count = maxTokens - room + countOf(a) + countOf(b);
      if (count > maxTokens) return { count, isExact: isExact(a) && isExact(b) };
      const pair = new Int32Array(count);
      let at = 0;
      for (const part of [before, a, between, b, after]) {
        if (!(part instanceof Int32Array)) continue;
        pair.set(part, at);
        at += part.length;
      }
      return pair;
    });
  }

  async #encode(texts: readonly string[], maxTokens: number, signal: AbortSignal) {
    const parts = texts.map((text): TextPart => ({ role: "candidate", text, maxTokens }));
    return this.#recent.encodeParts(parts, { maxTooMany: MAX_ISSUES, signal });
  }
}

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

type Encoded = Int32Array | TooManyTokens | undefined;

const countOf = (tokens: Encoded) => (tokens instanceof Int32Array ? tokens.length : (tokens?.count ?? 0));

const isExact = (tokens: Encoded) => tokens === undefined || tokens instanceof Int32Array || tokens.isExact;

const actual = (count: number, tokens: Encoded): TooManyTokens => ({ count, isExact: isExact(tokens) });

function placed(what: TooLongText["what"], { loc }: Pick<TooLongText, "loc">, maxTokens: number) {
  return { what, loc, maxTokens };
}
