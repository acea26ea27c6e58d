import { type Issue, invalidRequest, type Location } from "../errors.ts";
import { runSliced, type SliceOptions, type Steps } from "../json/slices.ts";
import {
  checkDescriptions,
  checkPairs,
  describeQuestion,
  renderOrReport,
  type TextRules,
} from "./candidates.ts";
import {
  type QuestionType,
  REQUEST_LIMITS,
  type RenderedQuestion,
  type RenderedRequest,
  type SystemoneBody,
} from "./request.ts";
import { stateValue } from "./texts.ts";

/** The names of the served model. */
export interface ModelNames {
  readonly id: string;
  /** Every other name that requests may use. */
  readonly aliases: readonly string[];
}

/** The facts of the served model that reading a request needs. */
export interface ServedModel extends ModelNames, TextRules {
  /** Whether the model was trained to compare a query and a document. */
  readonly isReranker?: boolean;
}

/** A request as texts, with the facts of its questions that the answers need. */
export interface SystemoneRequest extends RenderedRequest {
  /** One for each of `questions`. */
  readonly facts: readonly QuestionFacts[];
}

export interface QuestionFacts {
  readonly name: string;
  readonly type: QuestionType;
  /** In the order of the candidates. */
  readonly labels: readonly string[];
}

/**
 * Renders a validated body and checks the rules beyond its schema.
 *
 * Yields to the event loop while it renders a large body.
 * @throws ServiceError INVALID_REQUEST with every issue found; CANCELLED once `signal` is aborted
 */
export function readSystemone(
  body: SystemoneBody,
  model: ServedModel,
  options: Pick<SliceOptions, "signal"> = {},
): Promise<SystemoneRequest> {
  return runSliced(systemoneSteps(body, model), { ...options, isContinuation: true });
}

function* systemoneSteps(body: SystemoneBody, model: ServedModel): Steps<SystemoneRequest> {
  const issues: Issue[] = [];
  const modelIssue = checkModelName(body.model, model);
  if (modelIssue) issues.push(modelIssue);
  const members = [...body.questions];
  const pairsIssue = checkPairs(
    members.map(([, question]) => question),
    REQUEST_LIMITS.maxPairs,
  );
  // then nothing is rendered: thousands of candidates would be too much work for a refusal
  if (pairsIssue) throw invalidRequest([...issues, pairsIssue]);
  const loc = ["body", "state"];
  const value = yield* stateValue(body.state);
  yield;
  const state = renderOrReport(value, model.limits.maxStateQuestionTokens, loc, issues);
  yield;
  const questions: RenderedQuestion[] = [];
  const facts: QuestionFacts[] = [];
  for (const [name, question] of members) {
    const { type } = question;
    const place: Location = ["body", "questions", name];
    const source = { question, loc: place, instructionsLoc: [...place, "instructions"] };
    const { instructions, candidates } = yield* describeQuestion({ ...source, state, rules: model, issues });
    checkDescriptions(candidates, issues);
    questions.push({ form: type, question: instructions, candidates });
    facts.push({ name, type, labels: candidates.map(({ label }) => label) });
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return { state: { text: state ?? "", loc }, questions, facts };
}

/** Checks a request's `model`: it may be missing, or name the served model. */
export function checkModelName(model: unknown, names: ModelNames): Issue | undefined {
  if (model === undefined || model === names.id) return undefined;
  if (typeof model === "string" && names.aliases.includes(model)) return undefined;
  const msg =
    "Expected the served model's id, one of its aliases (see /v1/models) or no `model`, got another name.";
  return { loc: ["body", "model"], msg, type: "unsupported_model" };
}
