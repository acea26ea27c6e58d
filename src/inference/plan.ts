import type { RenderedRequest } from "../decisions/rendered.ts";
import { type Issue, invalidRequest } from "../errors.ts";
import type { RequestPlan, Tokenizer, TokenLimits, TooLongText } from "./ports.ts";

/**
 * Tokenizes a request and checks its token limits.
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

/** Requests tokenized at once. Chosen: enough to keep the tokenizer's threads busy, few enough to notice soon that a caller has left. */
const PLANNED_AT_ONCE = 16;

/** One plan of several requests that are scored together: their questions in order. @throws as `planRequest`, for the first invalid request */
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
