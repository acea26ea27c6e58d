import type { operations } from "../../../generated/explain.ts";
import { type Issue, invalidRequest } from "../../errors.ts";
import type { SliceOptions } from "../../json/slices.ts";
import type { Received } from "../../json/views.ts";
import { type RankRequest, readRank } from "../rank.ts";
import { readSystemone, type ServedModel, type SystemoneRequest } from "../systemone.ts";

/** A validated body. */
type ExplainBody = Received<operations["explain"]["requestBody"]["content"]["application/json"]>;

/** A request with questions has `asked`, a ranking has `sent`. */
export type ExplainedRequest = SystemoneRequest | RankRequest;

/**
 * Renders the request that is to be explained, as the operation does that it belongs to.
 *
 * @throws ServiceError INVALID_REQUEST with every issue found; CANCELLED once `signal` is aborted
 */
export async function readExplained(
  { questions, candidates, question, ...body }: ExplainBody,
  model: ServedModel,
  options: Pick<SliceOptions, "signal"> = {},
): Promise<ExplainedRequest> {
  if (questions !== undefined) {
    // null counts as left out: generated Java clients send every optional member
    const [extra] = Object.entries({ candidates, question }).filter(([, value]) => (value ?? null) !== null);
    if (extra) throw invalidRequest([twoRequests(extra[0])]);
    return readSystemone({ ...body, questions }, model, options);
  }
  if (candidates === undefined || candidates === null) throw invalidRequest([NEITHER]);
  return readRank({ ...body, candidates, question: question ?? null }, model, options);
}

const NEITHER: Issue = {
  loc: ["body", "questions"],
  msg: 'Expected the member "questions", or "candidates" of a ranking, got neither.',
  type: "missing",
};

function twoRequests(extra: string): Issue {
  const msg = `Expected either "questions" or the members of a ranking, got "questions" and "${extra}".`;
  return { loc: ["body", extra], msg, type: "unknown_field" };
}
