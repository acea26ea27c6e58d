import { type Issue, invalidRequest, type Location, ServiceError } from "../errors.ts";
import { runSliced, type SliceOptions, type Steps } from "../json/slices.ts";
import { probabilities } from "./answers.ts";
import { checkDescriptions, checkQuestion, renderOrReport } from "./candidates.ts";
import type { RankBody, RenderedRequest } from "./request.ts";
import { checkModelName, type ServedModel } from "./systemone.ts";
import { stateValue, strip } from "./texts.ts";

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
 * Renders a validated rank body and checks the rules beyond its schema.
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
  // what concerns both is told of a member that was sent
  const questionLoc = (body.question ?? null) === null ? stateLoc : ["body", "question"];
  const value = yield* stateValue(body.state);
  yield;
  const state = renderOrReport(value, maxStateQuestionTokens, stateLoc, issues);
  const question = renderOrReport(body.question ?? null, maxStateQuestionTokens, questionLoc, issues);
  checkQuestion(state, question, questionLoc, issues);
  yield;

  const sent = sentCandidates(body.candidates);
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

function sentCandidates(candidates: RankBody["candidates"]): SentCandidate[] {
  const entries: (readonly [string | number, string])[] = [...candidates.entries()];
  return entries.map(([key, text]) => ({
    label: String(key),
    text,
    loc: ["body", "candidates", key],
  }));
}

export interface RankedCandidate {
  /** Position, from 1. */
  readonly rank: number;
  /** Its label. */
  readonly candidate: string;
  /** As sent. */
  readonly text: string;
  /** Raw, the exact value of the model's float32. */
  readonly score: number;
  readonly probability: number;
}

/**
 * Sorts candidates from the largest raw score to the smallest. Equal scores keep their order.
 *
 * @param scores [candidates] raw scores
 * @throws ServiceError BACKEND_FAILED on a non-finite score, or when the scores do not fit the candidates
 */
export function rankCandidates(
  sent: readonly SentCandidate[],
  scores: Float32Array | undefined,
  temperature: number,
): RankedCandidate[] {
  if (scores?.length !== sent.length)
    throw new ServiceError("BACKEND_FAILED", "The model returned too few or too many scores.");
  const shares = probabilities(scores, temperature);
  return sent
    .map(({ label, text }, position) => ({
      candidate: label,
      text,
      score: scores[position] ?? 0,
      probability: shares[position] ?? 0,
    }))
    .sort((a, b) => b.score - a.score) // stable
    .map((candidate, position) => ({ rank: position + 1, ...candidate }));
}
