import type { RenderedRequest, RenderedText } from "../decisions/rendered.ts";
import { type Issue, invalidRequest, MAX_ISSUES } from "../errors.ts";
import type { TokenLimits, TokenTree } from "./ports.ts";

/** The parts of a token tree; each has special tokens of its own. */
export type PartRole = "state" | "question" | "candidate";

export interface TextPart {
  readonly role: PartRole;
  readonly text: string;
  /** Special tokens included. */
  readonly maxTokens: number;
}

/** A part that passes its limit. */
export interface TooManyTokens {
  /** Special tokens included. */
  readonly count: number;
  /** False: `count` is a lower bound, because a prefix was enough to refuse the text. */
  readonly isExact: boolean;
}

export interface Tokenizer {
  /**
   * Tokens of each part, special tokens included.
   *
   * @param options.maxTooMany parts after that many refused ones are left out
   * @param options.signal     rejects with its reason once aborted
   * @returns [parts] or fewer, in order
   */
  encodeParts(
    parts: readonly TextPart[],
    options: { readonly maxTooMany: number; readonly signal: AbortSignal },
  ): Promise<readonly (Int32Array | TooManyTokens)[]>;
}

/**
 * A request's token tree. Equal texts in the same role are tokenized once.
 *
 * @throws ServiceError INVALID_REQUEST with too_many_tokens issues in the order of the request, at most 20. A state that
 *         is too long alone is reported once, at the state; else state and question together at the question.
 */
export async function planRequest(
  request: RenderedRequest,
  limits: TokenLimits,
  tokenizer: Tokenizer,
  signal: AbortSignal,
): Promise<TokenTree> {
  const parts = new PartTable(limits);
  const state = parts.add("state", request.state);
  const questions = request.questions.map(({ question, candidates }) => ({
    question: parts.add("question", question),
    candidates: candidates.map((candidate) => parts.add("candidate", candidate)),
  }));
  // A refused question gives no issue of its own below a refused state: hence the questions on top.
  const maxTooMany = MAX_ISSUES + questions.length;
  const encoded = await tokenizer.encodeParts(parts.list, { maxTooMany, signal });

  const issues: Issue[] = [];
  const read = ({ at, loc }: PlacedPart, report: (tokens: TooManyTokens) => string): Int32Array => {
    const tokens = encoded[at];
    if (tokens instanceof Int32Array) return tokens;
    if (tokens !== undefined) issues.push({ loc, msg: report(tokens), type: "too_many_tokens" });
    return NO_TOKENS;
  };
  const stateTokens = read(state, (came) => describe("The state", limits.maxStateQuestionTokens, came));
  const isStateTooLong = issues.length > 0;
  const describeQuestion = ({ count, isExact }: TooManyTokens) =>
    describe("State and question together", limits.maxStateQuestionTokens, {
      count: stateTokens.length + count,
      isExact,
    });
  const nodes = questions.map(({ question, candidates }) => {
    const tokens = isStateTooLong ? NO_TOKENS : read(question, describeQuestion);
    if (tokens.length > 0 && stateTokens.length + tokens.length > limits.maxStateQuestionTokens) {
      const msg = describeQuestion({ count: tokens.length, isExact: true });
      issues.push({ loc: question.loc, msg, type: "too_many_tokens" });
    }
    return {
      tokens,
      candidates: candidates.map((candidate) =>
        read(candidate, (came) => describe("A candidate", limits.maxCandidateTokens, came)),
      ),
    };
  });
  if (issues.length > 0) throw invalidRequest(issues);
  return { state: stateTokens, questions: nodes };
}

const NO_TOKENS = new Int32Array(0); // stands for a refused part, in a tree that is thrown away

interface PlacedPart {
  /** Index in the list of parts. */
  readonly at: number;
  readonly loc: RenderedText["loc"];
}

/** The distinct parts of a request in the order of their first use. */
class PartTable {
  readonly list: TextPart[] = [];
  readonly #maxTokens: Readonly<Record<PartRole, number>>;
  readonly #indexes: Readonly<Record<PartRole, Map<string, number>>> = {
    state: new Map(),
    question: new Map(),
    candidate: new Map(),
  };

  constructor({ maxStateQuestionTokens, maxCandidateTokens }: TokenLimits) {
    this.#maxTokens = {
      state: maxStateQuestionTokens,
      question: maxStateQuestionTokens,
      candidate: maxCandidateTokens,
    };
  }

  add(role: PartRole, { text, loc }: RenderedText): PlacedPart {
    const indexes = this.#indexes[role];
    const at = indexes.get(text) ?? this.list.push({ role, text, maxTokens: this.#maxTokens[role] }) - 1;
    indexes.set(text, at);
    return { at, loc };
  }
}

function describe(what: string, maxTokens: number, { count, isExact }: TooManyTokens): string {
  const came = isExact ? `${count}` : `at least ${count}`;
  return `${what} may have at most ${maxTokens} tokens, special tokens included; got ${came}.`;
}
