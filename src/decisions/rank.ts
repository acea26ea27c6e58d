import { type Issue, invalidRequest, type Location } from "../errors.ts";
import { runSliced, type SliceOptions, type Steps } from "../json/slices.ts";
import { describeKind, isJsonArray, isJsonObject, type JsonValue } from "../json/value.ts";
import { REQUEST_LIMITS } from "./limits.ts";
import { checkModelName } from "./model-name.ts";
import type { RankBody } from "./questions.ts";
import type { RenderedRequest } from "./rendered.ts";
import type { ServedModel } from "./systemone.ts";
import { checkDescriptions, checkQuestion, renderOrReport } from "./texts/descriptions.ts";
import { stateValue } from "./texts/render.ts";
import { strip } from "./texts/strip.ts";

/** A request with one question. */
export interface RankRequest extends RenderedRequest {
  /** One label per candidate. */
  readonly sent: readonly SentCandidate[];
}

export interface SentCandidate {
  readonly label: string;
  /** Not trimmed. */
  readonly text: string;
  readonly loc: Location;
}

/**
 * Renders a rank body and checks the rules beyond its schema, among them all rules for `candidates`.
 *
 * Yields to the event loop while it reads a large state.
 * @throws ServiceError INVALID_REQUEST with every issue found; CANCELLED once `signal` is aborted
 */
export function readRank(
  body: RankBody,
  model: ServedModel,
  options: Pick<SliceOptions, "signal"> = {},
): Promise<RankRequest> {
  return runSliced(rankSteps(body, model), { ...options, isContinuation: true });
}

function* rankSteps(body: RankBody, model: ServedModel): Steps<RankRequest> {
  const issues: Issue[] = [];
  const modelIssue = checkModelName(body.model, model);
  if (modelIssue) issues.push(modelIssue);
  const { maxStateQuestionTokens } = model.limits;
  const stateLoc = ["body", "state"];
  const questionLoc = ["body", "question"];
  const value = yield* stateValue(body.state);
  yield;
  const state = renderOrReport(value, maxStateQuestionTokens, stateLoc, issues);
  const question = renderOrReport(body.question ?? null, maxStateQuestionTokens, questionLoc, issues);
  checkQuestion(state, question, questionLoc, issues);
  yield;

  const sent = readCandidates(body.candidates, issues);
  const candidates = sent.map(({ label, text, loc }) => ({
    label,
    text: strip(text),
    description: strip(text),
    loc,
  }));
  checkDescriptions(candidates, issues);
  if (issues.length > 0) throw invalidRequest(issues);
  return {
    state: { text: state ?? "", loc: stateLoc },
    questions: [{ question: { text: question ?? "", loc: questionLoc }, candidates }],
    sent,
  };
}

/** The candidates as sent; none if their number or type is wrong. */
function readCandidates(value: JsonValue, issues: Issue[]): SentCandidate[] {
  const loc: Location = ["body", "candidates"];
  if (!isJsonObject(value) && !isJsonArray(value)) {
    const msg = `Must be an object from label to text or an array of texts, not ${describeKind(value)}.`;
    issues.push({ loc, msg, type: "wrong_type" });
    return [];
  }
  const count = isJsonObject(value) ? value.size : value.length;
  const { minCandidates, maxCandidates } = REQUEST_LIMITS;
  if (count < minCandidates || count > maxCandidates) {
    const msg = `Must have ${minCandidates} to ${maxCandidates} candidates; got ${count}.`;
    issues.push({ loc, msg, type: count < minCandidates ? "too_few" : "too_many" });
    return [];
  }
  const entries: (readonly [string | number, JsonValue])[] = [...value.entries()];
  return entries.flatMap(([key, text]) => {
    const place = [...loc, key];
    if (typeof text === "string") return [{ label: String(key), text, loc: place }];
    issues.push({ loc: place, msg: `Must be a string, not ${describeKind(text)}.`, type: "wrong_type" });
    return [];
  });
}
