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
  const issue = mixedUp(questions !== undefined, { candidates, question });
  if (issue) throw invalidRequest([issue]);
  if (questions !== undefined) return readSystemone({ ...body, questions }, model, options);
  return readRank({ ...body, candidates: candidates ?? null, question: question ?? null }, model, options);
}

/** A member that is null counts as left out: generated Java clients send every optional one. */
function mixedUp(hasQuestions: boolean, ofRanking: Readonly<Record<string, unknown>>): Issue | undefined {
  const sent = Object.keys(ofRanking).filter((name) => (ofRanking[name] ?? null) !== null);
  const [extra] = sent;
  if (!hasQuestions && !sent.includes("candidates")) {
    const msg = 'Expected the member "questions", or "candidates" of a ranking, got neither.';
    return { loc: ["body", "questions"], msg, type: "missing" };
  }
  if (!hasQuestions || extra === undefined) return undefined;
  const msg = `Expected either "questions" or the members of a ranking, got "questions" and "${extra}".`;
  return { loc: ["body", extra], msg, type: "unknown_field" };
}
