import type { Limits } from "../../trial/limits.ts";
import { NOUL, RANK, SMALL, SMALL_RANK } from "../../trial/operations.ts";
import { MARK } from "../../trial/trial.ts";
import { asked } from "../cases.ts";
import { choiceOf, labelled, numbered, scoreOf, sizesOf, texts } from "../scored.ts";

/** A request with one fault, and the issue that its 422 must have. */
export interface FaultyRequest {
  readonly name: string;
  readonly path?: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The `type` of that issue. */
  readonly type: string;
  /** The beginning of that issue's `loc`. */
  readonly loc: readonly (string | number)[];
}

const Q = ["body", "questions", "q"];
/** A text longer than the contract's token limits. */
const TOO_LONG = "go ".repeat(9000);

/** A faulty request for each `type`, and some whose `loc` must have the alias that the request used. */
export function faultyRequests(limits: Limits): readonly FaultyRequest[] {
  return [...ALWAYS_FAULTY, ...tooMany(limits)];
}

/** Requests one past each of these bounds. */
function tooMany({ maxQuestions, maxCandidates, maxPairs }: Limits): readonly FaultyRequest[] {
  const candidates = texts(maxCandidates + 1);
  const questions = sizesOf(maxPairs + 1, maxCandidates).map((size) => choiceOf(labelled(texts(size))));
  return [
    { name: "a level too many", body: asked(scoreOf(candidates)), type: "too_many", loc: [...Q, "criteria"] },
    {
      name: "a candidate too many",
      path: RANK,
      body: { state: MARK, candidates },
      type: "too_many",
      loc: ["body", "candidates"],
    },
    {
      name: "a question too many",
      body: { state: MARK, questions: numbered(maxQuestions + 1, NOUL) },
      type: "too_many",
      loc: ["body", "questions"],
    },
    {
      name: "a pair too many",
      body: { state: MARK, questions: Object.fromEntries(questions.map((one, index) => [`n${index}`, one])) },
      type: "too_many_pairs",
      loc: ["body"],
    },
  ];
}

const ALWAYS_FAULTY: readonly FaultyRequest[] = [
  {
    name: "a media type",
    body: SMALL,
    headers: { "content-type": "text/plain" },
    type: "media_type",
    loc: ["body"],
  },
  { name: "broken JSON", body: `{"state":"${MARK}`, type: "invalid_json", loc: ["body"] },
  {
    name: "a duplicate",
    body: `{"state":"${MARK}","state":1,"questions":{}}`,
    type: "duplicate_member",
    loc: ["body"],
  },
  { name: "deep nesting", body: "[".repeat(200), type: "nesting_too_deep", loc: ["body"] },
  { name: "a missing member", body: { state: MARK }, type: "missing", loc: ["body"] },
  { name: "missing instructions", body: asked({ type: "noul" }), type: "missing", loc: Q },
  { name: "an unknown member", body: { ...SMALL, extra: MARK }, type: "unknown_field", loc: ["body"] },
  {
    name: "an unknown member of a question",
    body: asked({ ...NOUL, extra: MARK }),
    type: "unknown_field",
    loc: Q,
  },
  { name: "an unknown type", body: asked({ type: MARK, instructions: "i" }), type: "unknown_value", loc: Q },
  {
    name: "questions of a wrong type",
    body: { state: "s", questions: MARK },
    type: "wrong_type",
    loc: ["body", "questions"],
  },
  {
    name: "a candidate of a wrong type",
    path: RANK,
    body: { state: MARK, candidates: ["a", 5] },
    type: "wrong_type",
    loc: ["body", "candidates", 1],
  },
  {
    name: "a long state under its alias",
    path: RANK,
    body: { context: TOO_LONG, candidates: ["a", "b"] },
    type: "too_many_tokens",
    loc: ["body", "context"],
  },
  {
    name: "a long outcome under its alias",
    body: asked({ ...NOUL, criteria: { yes: TOO_LONG } }),
    type: "too_many_tokens",
    loc: [...Q, "criteria", "yes"],
  },
  {
    name: "equal candidates under their alias",
    path: RANK,
    body: { state: "s", answers: [MARK, MARK] },
    type: "not_distinct",
    loc: ["body", "answers", 1],
  },
  { name: "one label", body: asked(choiceOf({ a: MARK })), type: "too_few", loc: [...Q, "criteria"] },
  { name: "no question", body: { state: MARK, questions: {} }, type: "too_few", loc: ["body", "questions"] },
  {
    name: "both names",
    path: RANK,
    body: { ...SMALL_RANK, context: MARK },
    type: "alias_conflict",
    loc: ["body"],
  },
  {
    name: "both names of an outcome",
    body: asked({ ...NOUL, criteria: { no: MARK, false: MARK } }),
    type: "alias_conflict",
    loc: [...Q, "criteria"],
  },
  { name: "a blank level", body: asked(scoreOf([MARK, " "])), type: "blank", loc: [...Q, "criteria", 1] },
  {
    name: "equal candidates",
    path: RANK,
    body: { state: "s", candidates: [MARK, MARK] },
    type: "not_distinct",
    loc: ["body", "candidates", 1],
  },
  {
    name: "another model",
    body: { ...SMALL, model: MARK },
    type: "unsupported_model",
    loc: ["body", "model"],
  },
];
