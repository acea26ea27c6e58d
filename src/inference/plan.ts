import type { RenderedRequest, RenderedText } from "../decisions/rendered.ts";
import type { TextReader } from "../decisions/text-tokens.ts";
import { type Issue, invalidRequest } from "../errors.ts";
import type { RequestPlan, SpelledToken, TextCacheCounters, TokenLimits } from "./ports.ts";

/** A count that passes a limit. */
export interface TooManyTokens {
  /** Special tokens included. */
  readonly count: number;
  /** False: `count` is a lower bound, because less than the whole was enough to refuse a text. */
  readonly isExact: boolean;
}

/** A text that passes a limit, alone or with those before it. */
export interface TooLongText {
  readonly loc: RenderedText["loc"];
  readonly what: "state" | "state and question" | "candidate" | "pair";
  /** Special tokens included, as in `came`. */
  readonly maxTokens: number;
  readonly came: TooManyTokens;
}

export interface EncodedRequest {
  /** Without meaning where a text is too long. */
  readonly plan: RequestPlan;
  /**
   * In the order of the request. A state that is too long alone is named once, at the state; else state and question together
   * at the question. At least MAX_ISSUES of them, where there are so many.
   */
  readonly tooLong: readonly TooLongText[];
}

export interface Tokenizer extends TextReader {
  /**
   * Tokens of each pair of a request. How a pair is cut depends on its own texts only.
   *
   * @param signal rejects with its reason once aborted
   */
  encodeRequest(request: RenderedRequest, limits: TokenLimits, signal: AbortSignal): Promise<EncodedRequest>;
  /** Left out where no texts are kept. */
  textCache?(): TextCacheCounters;
  /** Whether the tokens of a text are kept now; left out where none are. */
  isKept?(role: TextRole, text: string): boolean;
  /** Tokens for people. @param ids those of the text in a plan */
  spell(role: TextRole, text: string, ids: Int32Array): Promise<readonly SpelledToken[]>;
}

/** A text's place in a pair. */
export type TextRole = "state" | "question" | "candidate";

/**
 * A request's tokens.
 *
 * @throws ServiceError INVALID_REQUEST with too_many_tokens issues in the order of the request, at most 20
 */
export async function planRequest(
  request: RenderedRequest,
  limits: TokenLimits,
  tokenizer: Tokenizer,
  signal: AbortSignal,
): Promise<RequestPlan> {
  const { plan, tooLong } = await tokenizer.encodeRequest(request, limits, signal);
  if (tooLong.length > 0) throw invalidRequest(tooLong.map(issueOf));
  return plan;
}

/** Chosen: enough to keep the tokenizer's threads busy, and few enough that a caller who leaves is noticed. */
const PLANNED_AT_ONCE = 16;

/** The tokens of requests that are scored together, one behind the other. @throws as `planRequest` for the first that is refused */
export async function planRequests(
  requests: readonly RenderedRequest[],
  limits: TokenLimits,
  tokenizer: Tokenizer,
  signal: AbortSignal,
): Promise<RequestPlan> {
  const plans: RequestPlan[] = [];
  for (let start = 0; start < requests.length; start += PLANNED_AT_ONCE) {
    signal.throwIfAborted();
    const next = requests.slice(start, start + PLANNED_AT_ONCE);
    const planned = next.map((request) => planRequest(request, limits, tokenizer, signal));
    plans.push(...(await Promise.all(planned)));
  }
  return plans.flat();
}

const SUBJECTS: Readonly<Record<TooLongText["what"], string>> = {
  state: "The state",
  "state and question": "State and question together",
  candidate: "A candidate",
  pair: "State, question and candidate together",
};

function issueOf({ loc, what, maxTokens, came }: TooLongText): Issue {
  const count = came.isExact ? `${came.count}` : `at least ${came.count}`;
  const msg = `${SUBJECTS[what]} may have at most ${maxTokens} tokens, special tokens included; got ${count}.`;
  return { loc, msg, type: "too_many_tokens" };
}
