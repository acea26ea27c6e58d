import type { RenderedRequest, TextTokens } from "../../decisions/request.ts";
import { MAX_ISSUES } from "../../errors.ts";
import { groupByUnits } from "../collections.ts";
import type { Node } from "../nodes.ts";
import { type EncodedTexts, GROUP_UNITS } from "./encoded-texts.ts";
import { PathCutter } from "./joint-cut.ts";
import { JointEncoder } from "./joint-encoder.ts";
import { contextPieces, pairPieces, promptPieces } from "./joint-text.ts";
import type {
  EncodedRequest,
  SpelledToken,
  TextRole,
  Tokenizer,
  TokenLimits,
  TooLongText,
} from "./tokenizer.ts";

/** Properties of a model that reads each pair as one text. */
export interface JointModel {
  /** Id of the first token of every pair. */
  readonly bosId: number;
  /** Maximum tokens of a pair. */
  readonly maxTokens: number;
  /** Number of token ids that the model knows, which may be fewer than its tokenizer has; undefined if unknown. */
  readonly vocabulary: number | undefined;
}

/** A text with a token limit of its own. */
type Check = Omit<TooLongText, "actual"> & { readonly pieces: readonly string[] };

/**
 * Tokenizes each pair as one text, for causal models. Tokens may span the borders of state, question and candidate.
 * `PathCutter` splits them into nodes, which depend only on the pair's own texts.
 */
export class JointTokenizer implements Tokenizer {
  readonly #encoder: JointEncoder;
  readonly #model: JointModel;

  /**
   * @param json text of a tokenizer.json of Gemma's kind
   * @throws ServiceError INVALID_MODEL for any other kind
   */
  constructor(json: string, model: JointModel) {
    this.#encoder = new JointEncoder(json, model.vocabulary);
    this.#model = model;
  }

  readTexts(texts: readonly string[]): Promise<readonly TextTokens[]> {
    return this.#encoder.readTexts(texts);
  }

  async encodeRequest(
    request: RenderedRequest,
    limits: TokenLimits,
    signal: AbortSignal,
  ): Promise<EncodedRequest> {
    const texts = this.#encoder.open(signal);
    const tooLong = await this.#findTooLong(request, limits, texts);
    return tooLong.length > 0 ? { plan: [], tooLong } : this.#encodePairs(request, texts);
  }

  async spell(_role: TextRole, _text: string, ids: Int32Array): Promise<readonly SpelledToken[]> {
    const { unknownId } = this.#encoder.facts;
    return Array.from(ids, (id) => ({ id, text: this.#encoder.tokenText(id), isUnknown: id === unknownId }));
  }

  async #findTooLong(
    { state, questions }: RenderedRequest,
    { maxStateQuestionTokens, maxCandidateTokens }: TokenLimits,
    texts: EncodedTexts,
  ): Promise<readonly TooLongText[]> {
    const context = (what: Check["what"], { loc }: { loc: Check["loc"] }, question: string): Check => {
      return { what, loc, maxTokens: maxStateQuestionTokens, pieces: contextPieces(state.text, question) };
    };
    const tooLong = await this.#check([context("state", state, "")], texts);
    const isStateTooLong = tooLong.length > 0; // then state and question are too long for every question, too
    const checks = questions.flatMap(({ question, candidates }) => [
      ...(isStateTooLong ? [] : [context("state and question", question, question.text)]),
      ...candidates.map(({ loc, text }): Check => {
        return { what: "candidate", loc, maxTokens: maxCandidateTokens, pieces: [text] };
      }),
    ]);
    // group by group, to stop once there are enough issues
    for (const group of groupByUnits(checks, ({ pieces }) => unitsOf(pieces), GROUP_UNITS)) {
      if (tooLong.length >= MAX_ISSUES) break;
      tooLong.push(...(await this.#check(group, texts)));
    }
    return tooLong;
  }

  async #check(checks: readonly Check[], texts: EncodedTexts): Promise<TooLongText[]> {
    const fewest = ({ pieces }: Check) => 1 + this.#encoder.fewestTokens(unitsOf(pieces));
    const mayFit = (check: Check) => fewest(check) <= check.maxTokens;
    await texts.add(checks.filter(mayFit).map(({ pieces }) => pieces));
    return checks.flatMap((check): TooLongText[] => {
      const isExact = mayFit(check);
      const count = isExact ? 1 + texts.count(check.pieces) : fewest(check);
      const { what, loc, maxTokens } = check;
      return count > maxTokens ? [{ what, loc, maxTokens, actual: { count, isExact } }] : [];
    });
  }

  async #encodePairs({ state, questions }: RenderedRequest, texts: EncodedTexts): Promise<EncodedRequest> {
    const { bosId, maxTokens } = this.#model;
    const cutter = new PathCutter(await texts.ids(bosId, contextPieces(state.text, "")));
    const prompts = new Map<string, Int32Array>();
    const tooLong: TooLongText[] = [];
    const plan: Node[][] = [];
    for (const { question, candidates } of questions) {
      const prompt =
        prompts.get(question.text) ?? (await texts.ids(bosId, promptPieces(state.text, question.text)));
      prompts.set(question.text, prompt);
      const pairs = candidates.map(({ text }) => pairPieces(state.text, question.text, text));
      await texts.add(pairs);
      const leaves: Node[] = [];
      for (const [i, pieces] of pairs.entries()) {
        const pair = await texts.ids(bosId, pieces);
        const loc = candidates[i]?.loc ?? question.loc;
        const actual = { count: pair.length, isExact: true };
        if (pair.length > maxTokens) tooLong.push({ what: "pair", loc, maxTokens, actual });
        leaves.push(cutter.cut(pair, prompt));
      }
      plan.push(leaves);
    }
    return { plan, tooLong };
  }
}

function unitsOf(pieces: readonly string[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}
