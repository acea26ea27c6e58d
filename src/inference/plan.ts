import { setImmediate as turn } from "node:timers/promises";
import type { RenderedRequest } from "../decisions/request.ts";
import { type Issue, invalidRequest } from "../errors.ts";
import { nodeBelow, pathLength, pathOf, type RequestPlan } from "./nodes.ts";
import { groupByUnits, type Tokenizer, type TokenLimits, type TooLongText } from "./tokens/tokenizer.ts";

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

/**
 * Requests tokenized at once, and UTF-16 code units of their states. Chosen: looking up known words takes some milliseconds of
 * the main thread then, and a caller who has left is noticed soon.
 */
const AT_ONCE = { requests: 16, units: 32_768 };

/** One plan of several requests that are scored together: their questions in order. @throws as `planRequest`, for the first invalid request */
export async function planRequests(
  requests: readonly RenderedRequest[],
  limits: TokenLimits,
  tokenizer: Tokenizer,
  signal: AbortSignal,
): Promise<RequestPlan> {
  const plans: RequestPlan[] = [];
  const leastUnits = AT_ONCE.units / AT_ONCE.requests;
  const unitsOf = ({ state }: RenderedRequest) => Math.max(leastUnits, state.text.length);
  for (const group of groupByUnits(requests, unitsOf, AT_ONCE.units)) {
    if (plans.length > 0) await turn(); // words that are all known are looked up without leaving the main thread
    signal.throwIfAborted();
    const planned = group.map((request) => planRequest(request, limits, tokenizer, signal));
    plans.push(...(await Promise.all(planned)));
  }
  return plans.flat();
}

/** Parents of pairs that share nothing. */
const NOTHING = nodeBelow(nodeBelow(undefined, new Int32Array(0)), new Int32Array(0));

/**
 * The same pairs, but none shares tokens with another: for models that compute each pair by itself, so that batches, estimates and
 * limits count what is computed. Pairs of a question that are one run stay together: a complemented last token tells them apart.
 */
export function withoutSharing(plan: RequestPlan): RequestPlan {
  return plan.map((leaves) => {
    if (leaves.some(({ tokens }) => (tokens.at(-1) ?? 0) < 0)) return leaves;
    return leaves.map((leaf) =>
      nodeBelow(NOTHING, Int32Array.from(pathOf(leaf).flatMap(({ tokens }) => [...tokens]))),
    );
  });
}

/** Tokens of all pairs of a request, each pair at its full length. */
export function tokensOf(plan: RequestPlan): number {
  return plan.flat().reduce((sum, leaf) => sum + pathLength(leaf), 0);
}

const SUBJECTS: Readonly<Record<TooLongText["what"], string>> = {
  state: "in the state",
  "state and question": "in state and question together",
  candidate: "in a candidate",
  pair: "in state, question and candidate together",
};

function issueOf({ loc, what, maxTokens, actual }: TooLongText): Issue {
  const count = actual.isExact ? `${actual.count}` : `at least ${actual.count}`;
  const msg = `Expected at most ${maxTokens} tokens ${SUBJECTS[what]}, special tokens included, got ${count}.`;
  return { loc, msg, type: "too_many_tokens" };
}
