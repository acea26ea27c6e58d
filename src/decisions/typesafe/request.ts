import type { components } from "../../../generated/typesafe.ts";
import { type Issue, invalidRequest, type Location } from "../../errors.ts";
import { runSliced, type SliceOptions, type Steps } from "../../json/slices.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../json/value.ts";
import type { Received } from "../../json/views.ts";
import { checkPairs, type DescribedCandidate, describeQuestion, renderOrReport } from "../candidates.ts";
import type { Question, RenderedCandidate, RenderedQuestion, RenderedRequest } from "../request.ts";
import { checkModelName, type ServedModel } from "../systemone.ts";
import { stateValue, strip } from "../texts.ts";

/** Of all questions of a request together. Chosen: sixteen calls of the engine. */
const MAX_OPTIONS = 4_096;

export type TypesafeBody = Received<components["schemas"]["TypesafeRequest"]>;
type TypesafeQuestion = TypesafeBody["questions"] extends ReadonlyMap<string, infer Q> ? Q : never;

/** A request as texts that differ within each question, with what the answers need. */
export interface TypesafeRequest extends RenderedRequest {
  /** One for each of `questions`. */
  readonly facts: readonly TypesafeFacts[];
}

export interface TypesafeFacts {
  readonly name: string;
  readonly type: "choice" | "noul" | "score";
  /** In the order of the criteria. */
  readonly labels: readonly string[];
  /** [labels] position of the scored candidate that gives a label its score; several labels may share one. */
  readonly scoredBy: readonly number[];
  /** Of a score: [labels] the levels as the answer repeats them. */
  readonly legend: readonly JsonValue[];
}

/**
 * Renders a validated body and checks the rules beyond its schema.
 *
 * A question whose candidates all have the same text is answered without the model: it has no candidates here.
 * @throws ServiceError INVALID_REQUEST with every issue found; CANCELLED once `signal` is aborted
 */
export function readTypesafe(
  body: TypesafeBody,
  model: ServedModel,
  options: Pick<SliceOptions, "signal"> = {},
): Promise<TypesafeRequest> {
  return runSliced(requestSteps(body, model), { ...options, isContinuation: true });
}

function* requestSteps(body: TypesafeBody, model: ServedModel): Steps<TypesafeRequest> {
  const issues: Issue[] = [];
  const modelIssue = checkModelName(body.model ?? undefined, model);
  if (modelIssue) throw invalidRequest([modelIssue]); // told alone: the hosted service has a status of its own for it
  checkImages(body, issues);
  const members = [...body.questions].flatMap(([name, question]) => {
    const plain = plainQuestion(question);
    return plain === undefined ? [] : [{ name, question: plain }];
  });
  const pairsIssue = checkPairs(
    members.map(({ question }) => question),
    MAX_OPTIONS,
  );
  if (pairsIssue) throw invalidRequest([...issues, pairsIssue]);
  const loc = ["body", "state"];
  const state = renderOrReport(
    yield* stateValue(unwrapState(body.state, loc, issues)),
    model.limits.maxStateQuestionTokens,
    loc,
    issues,
  );
  yield;
  const questions: RenderedQuestion[] = [];
  const facts: TypesafeFacts[] = [];
  for (const { name, question } of members) {
    const read = yield* questionSteps(name, question, state, model, issues);
    questions.push(read.rendered);
    facts.push(read.facts);
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return { state: { text: state ?? "", loc }, questions, facts };
}

/** The question of the plain contract that means the same; undefined for one about an image. */
function plainQuestion(question: TypesafeQuestion): Question | undefined {
  return question.type === "box" ? undefined : { ...question, instructions: question.instructions ?? null };
}

function checkImages({ assets = null, questions }: TypesafeBody, issues: Issue[]): void {
  if (assets !== null && !(isJsonObject(assets) && assets.size === 0)) {
    const msg = "Expected no assets, got some; images are not supported.";
    issues.push({ loc: ["body", "assets"], msg, type: "unknown_field" });
  }
  for (const [name, { type }] of questions) {
    if (type !== "box") continue;
    const msg = `Expected "choice", "noul" or "score", got "box", which asks about an image; images are not supported.`;
    issues.push({ loc: ["body", "questions", name, "type"], msg, type: "unknown_value" });
  }
}

function* questionSteps(
  name: string,
  question: Question,
  state: string | undefined,
  rules: ServedModel,
  issues: Issue[],
): Steps<{ rendered: RenderedQuestion; facts: TypesafeFacts }> {
  const { type } = question;
  const loc: Location = ["body", "questions", name];
  const instructionsLoc = question.instructions === null ? loc : [...loc, "instructions"];
  const described = yield* describeQuestion({ question, loc, instructionsLoc, state, rules, issues });
  const candidates = type === "score" ? described.candidates.map(numberedIfBlank) : described.candidates;
  reportBlank(candidates, issues);
  // the outcomes of a noul always differ: `false` or `true` stands in front
  const { distinct, scoredBy } =
    type === "noul" ? { distinct: candidates, scoredBy: [0, 1] } : merged(candidates);
  return {
    rendered: {
      form: type,
      question: described.instructions,
      candidates: distinct.length > 1 ? distinct : [],
    },
    facts: {
      name,
      type,
      labels: candidates.map(({ label }) => label),
      scoredBy,
      legend: type === "score" ? legendOf(question.criteria, candidates) : [],
    },
  };
}

/** A level without a text is known by its number. */
function numberedIfBlank(candidate: DescribedCandidate): DescribedCandidate {
  const { description, label } = candidate;
  return description === "" ? { ...candidate, description: label, text: label } : candidate;
}

/** An option whose name is blank too. */
function reportBlank(candidates: readonly DescribedCandidate[], issues: Issue[]): void {
  for (const { description, loc } of candidates) {
    if (description === undefined || strip(description) !== "") continue;
    issues.push({ loc, msg: "Expected a name or a description, got two blank ones.", type: "blank" });
  }
}

/**
 * One candidate for each description. Where several labels share it, no label is shown, so that their scores are equal.
 */
function merged(candidates: readonly DescribedCandidate[]) {
  const distinct: RenderedCandidate[] = [];
  const positions = new Map<string, number>();
  const scoredBy = candidates.map((candidate) => {
    const description = strip(candidate.description ?? "");
    const known = positions.get(description);
    if (known === undefined) {
      positions.set(description, distinct.length);
      distinct.push(candidate);
      return distinct.length - 1;
    }
    const first = distinct[known];
    if (first !== undefined) distinct[known] = { ...first, text: description };
    return known;
  });
  return { distinct, scoredBy };
}

/** The levels as they were sent, where the SDKs take such a value for a level; else their texts. */
function legendOf(levels: readonly JsonValue[], candidates: readonly DescribedCandidate[]): JsonValue[] {
  return levels.map((level, position) =>
    typeof level === "string" || isJsonArray(level) || isJsonObject(level)
      ? level
      : (candidates[position]?.text ?? ""),
  );
}

/**
 * A state as its sender meant it: the AI SDK sends a list of parts, `{"type": "text", "text": ...}` or
 * `{"type": "json", "value": ...}`. A list that holds anything else is a state like any other.
 *
 * @returns the content of the part; of several, the list of their contents. Parts with files are added to `issues`.
 */
export function unwrapState(state: JsonValue, loc: Location, issues: Issue[]): JsonValue {
  if (!isJsonArray(state) || state.length === 0) return state;
  const contents: JsonValue[] = [];
  for (const [position, part] of state.entries()) {
    if (isFilePart(part)) {
      const msg = "Expected parts with a text or JSON value, got one with a file; files are not supported.";
      issues.push({ loc: [...loc, position], msg, type: "unknown_value" });
      continue;
    }
    const content = contentOf(part);
    if (content === undefined) return state;
    contents.push(content);
  }
  return contents.length === 1 ? (contents[0] ?? null) : contents;
}

/** Members of a part that SDKs send along for a provider. */
const METADATA = new Set([
  "providerOptions",
  "providerMetadata",
  "experimental_providerMetadata",
  "cache_control",
]);

/** Undefined unless the value is a part and holds nothing besides. */
function contentOf(part: JsonValue): JsonValue | undefined {
  if (!isJsonObject(part)) return undefined;
  const isText = part.get("type") === "text" && typeof part.get("text") === "string";
  const name = isText ? "text" : part.get("type") === "json" ? "value" : undefined;
  const isPart = [...part].every(
    ([member, value]) => member === "type" || member === name || value === null || METADATA.has(member),
  );
  return name !== undefined && isPart ? part.get(name) : undefined;
}

/** @see https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message (FilePart) */
function isFilePart(part: JsonValue): part is JsonObject {
  return isJsonObject(part) && part.get("type") === "file" && part.has("mediaType") && part.has("data");
}
