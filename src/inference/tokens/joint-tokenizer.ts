import { setImmediate as turn } from "node:timers/promises";
import type { RenderedRequest, TextTokens } from "../../decisions/request.ts";
import { MAX_ISSUES } from "../../errors.ts";
import type { Node } from "../nodes.ts";
import { readVocabulary, type VocabularyFacts } from "./gemma-vocabulary.ts";
import { PathCutter } from "./joint-cut.ts";
import { LibraryEncoder, parseTokenizer } from "./library-encoder.ts";
import {
  type EncodedRequest,
  GROUP_UNITS,
  groupByUnits,
  type SpelledToken,
  type TextRole,
  type Tokenizer,
  type TokenLimits,
  type TooLongText,
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

/**
 * Separators between the texts of a pair. The model was trained with these (published with the GemmaDecision-270M
 * weights): do not change them.
 */
const BLANK_LINE = "\n\n";
const HEADER = "\n\nCandidate action:\n";

/** Tokens of pairs that are copied and cut between two turns of the event loop. Chosen: this takes 2 ms. */
const CUT_IN_A_TURN = 131_072;

/** A text with a token limit of its own. */
type Check = Omit<TooLongText, "actual"> & { readonly pieces: readonly string[] };

/**
 * Tokenizes each pair as one text, for causal models. Tokens may span the borders of state, question and candidate.
 * `PathCutter` splits them into nodes, which depend only on the pair's own texts.
 */
export class JointTokenizer implements Tokenizer {
  readonly #facts: VocabularyFacts;
  readonly #library: LibraryEncoder;
  readonly #model: JointModel;

  /**
   * @param json text of a tokenizer.json of Gemma's kind
   * @throws ServiceError INVALID_MODEL for any other kind
   */
  constructor(json: string, model: JointModel) {
    const file = parseTokenizer(json);
    this.#facts = readVocabulary(file);
    this.#library = new LibraryEncoder(file, model.vocabulary);
    this.#model = model;
  }

  readTexts(texts: readonly string[]): Promise<readonly TextTokens[]> {
    return this.#library.readTexts(texts);
  }

  async encodeRequest(
    request: RenderedRequest,
    limits: TokenLimits,
    signal: AbortSignal,
  ): Promise<EncodedRequest> {
    const texts = new EncodedTexts(this.#library, this.#facts.separatesNewlines, signal);
    const tooLong = await this.#findTooLong(request, limits, texts);
    return tooLong.length > 0 ? { plan: [], tooLong } : this.#encodePairs(request, texts);
  }

  async spell(_role: TextRole, _text: string, ids: Int32Array): Promise<readonly SpelledToken[]> {
    return this.#library.spell(ids);
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
    // a lower bound for the tokens, from the length alone: a text of 2 MiB is refused without tokenizing it
    const fewest = ({ pieces }: Check) => 1 + Math.ceil(unitsOf(pieces) / this.#facts.longestToken);
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
      const promptPieces = [...contextPieces(state.text, question.text), HEADER];
      const prompt = prompts.get(question.text) ?? (await texts.ids(bosId, promptPieces));
      prompts.set(question.text, prompt);
      const pairs = candidates.map(({ text }) => [...promptPieces, text]);
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

/** State and question as one text, in pieces. A blank text is left out together with its separator. */
function contextPieces(state: string, question: string): readonly string[] {
  if (state === "" || question === "") return [state, question].filter((text) => text !== "");
  return [state, BLANK_LINE, question];
}

function unitsOf(pieces: readonly string[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/**
 * Tokens of the texts of one request, each given in pieces.
 *
 * A text is split where the tokenizer provably splits it, too (see `readVocabulary`): between two pieces where either
 * the first ends with a newline or the second begins with one, but not both. With Gemma's tokenizer, these are nearly
 * all borders between state, question, header and candidate. So a state is tokenized once instead of once per pair.
 * Texts that cannot be split are tokenized whole.
 */
class EncodedTexts {
  readonly #library: LibraryEncoder;
  readonly #separatesNewlines: boolean;
  readonly #signal: AbortSignal;
  readonly #segments = new Map<string, Int32Array>();
  #copied = 0;

  constructor(library: LibraryEncoder, separatesNewlines: boolean, signal: AbortSignal) {
    this.#library = library;
    this.#separatesNewlines = separatesNewlines;
    this.#signal = signal;
  }

  /** Tokenizes texts off the main thread. @throws the signal's reason */
  async add(texts: readonly (readonly string[])[]): Promise<void> {
    const segments = new Set(texts.flatMap((pieces) => this.#cut(pieces)));
    const fresh = [...segments].filter((segment) => !this.#segments.has(segment));
    for (const group of groupByUnits(fresh, (text) => text.length, GROUP_UNITS)) {
      this.#signal.throwIfAborted();
      const encodings = await this.#library.encode(group);
      for (const [i, text] of group.entries())
        this.#segments.set(text, Int32Array.from(encodings[i]?.getIds() ?? []));
    }
  }

  /** Number of tokens of a text that has been added. */
  count(pieces: readonly string[]): number {
    return this.#idsOf(pieces).reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Ids of a text, which need not have been added. Yields to the event loop regularly.
   *
   * @returns [1 + tokens] `first`, then the ids
   */
  async ids(first: number, pieces: readonly string[]): Promise<Int32Array> {
    await this.add([pieces]);
    const ids = new Int32Array(1 + this.count(pieces));
    this.#copied += ids.length;
    if (this.#copied > CUT_IN_A_TURN) {
      await turn(undefined, { signal: this.#signal });
      this.#copied = 0;
    }
    ids[0] = first;
    let at = 1;
    for (const segment of this.#idsOf(pieces)) {
      ids.set(segment, at);
      at += segment.length;
    }
    return ids;
  }

  #idsOf(pieces: readonly string[]): readonly Int32Array[] {
    return this.#cut(pieces).flatMap((text) => this.#segments.get(text) ?? []);
  }

  #cut(pieces: readonly string[]): readonly string[] {
    const segments: string[] = [];
    for (const piece of pieces) {
      const last = segments.at(-1);
      const isCut = last === undefined || (this.#separatesNewlines && isNewlineBorder(last, piece));
      if (isCut) segments.push(piece);
      else segments[segments.length - 1] = last + piece;
    }
    return segments;
  }
}

function isNewlineBorder(left: string, right: string): boolean {
  return left.endsWith("\n") !== right.startsWith("\n");
}
