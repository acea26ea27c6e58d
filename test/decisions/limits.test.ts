import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it, test } from "node:test";
import explain from "../../generated/explain.json" with { type: "json" };
import openapi from "../../generated/openapi.typed.json" with { type: "json" };
import { CONTRACT_LIMITS } from "../../packages/conformance/src/trial/limits.ts";
import { REQUEST_LIMITS } from "../../src/decisions/request.ts";
import { MAX_ISSUES } from "../../src/errors.ts";
import { packageRoot } from "../support/package-root.ts";

const { maxBodyBytes, maxNesting, maxQuestions, minCandidates, maxCandidates, maxPairs } = REQUEST_LIMITS;
const QUESTIONS = [1, maxQuestions];
const CANDIDATES = [minCandidates, maxCandidates];
/** The two outcomes of a yes/no question. */
const OUTCOMES = [2, 2];

/** Fewest and most of every list, map and number of the schemas that has a bound; null: it has none on that side. */
const BOUNDS: Readonly<Record<string, readonly (number | null)[]>> = {
  // limits of requests, in requests and in their answers
  "SystemoneRequest.questions": QUESTIONS,
  "Decisions.answers": QUESTIONS,
  "ChoiceQuestion.criteria": CANDIDATES,
  "ChoiceAnswer.probabilities": CANDIDATES,
  "ChoiceAnswer.scores": CANDIDATES,
  "ScoreQuestion.criteria": CANDIDATES,
  "ScoreAnswer.probabilities": CANDIDATES,
  "ScoreAnswer.scores": CANDIDATES,
  "ScoreAnswer.score": [0, maxCandidates - 1],
  "Ranking.ranked": CANDIDATES,
  "RankedCandidate.rank": [1, maxCandidates],
  "RankRequest.candidates.oneOf.0": CANDIDATES,
  "RankRequest.candidates.oneOf.1": CANDIDATES,
  "ExplainRequest.candidates.oneOf.0": CANDIDATES,
  "ExplainRequest.candidates.oneOf.1": CANDIDATES,
  "ExplainRequest.questions": QUESTIONS,
  "Explanation.questions": QUESTIONS,
  "Explanation.answers": QUESTIONS,
  "Explanation.ranked": CANDIDATES,
  "QuestionReading.candidates": [null, maxCandidates],
  "StatePart.questions": QUESTIONS,
  "PartInfluence.probabilities": CANDIDATES,
  // others
  "NoulAnswer.probabilities": OUTCOMES,
  "NoulAnswer.scores": OUTCOMES,
  "Explanation.influence": [null, 32], // parts of the state
  "ErrorBody.detail.oneOf.1": [1, MAX_ISSUES],
};

describe("the schemas of the contract and of explanations", () => {
  const bounds = { ...boundsOf(openapi.components.schemas), ...boundsOf(explain.components.schemas) };
  it("state each limit of requests as the service has it", () => {
    const places = [...new Set([...Object.keys(bounds), ...Object.keys(BOUNDS)])];
    const wrong = places.filter((place) => String(bounds[place]) !== String(BOUNDS[place]));
    assert.deepEqual(
      wrong.map(
        (place) => `${place}: ${bounds[place] ?? "no bound"}; here: ${BOUNDS[place] ?? "not listed"}`,
      ),
      [],
    );
  });
});

test("the examples of the health report tell the limits", () => {
  for (const { value } of Object.values(openapi.components.examples)) {
    const { limits } = value as { limits?: Record<string, number> };
    if (limits === undefined) continue;
    assert.deepEqual(
      {
        ...limits,
        ...{ max_body_bytes: maxBodyBytes, max_nesting: maxNesting, max_questions: maxQuestions },
        ...{ min_candidates: minCandidates, max_candidates: maxCandidates, max_pairs: maxPairs },
      },
      limits,
    );
  }
});

test("the conformance checks know the contract's limits", () =>
  assert.deepEqual({ ...CONTRACT_LIMITS, ...REQUEST_LIMITS }, CONTRACT_LIMITS));

test("the table of limits has a row for each", () => {
  const page = readFileSync(path.join(packageRoot, "docs/api.md"), "utf8");
  for (const row of [
    `| body | ${maxBodyBytes.toLocaleString("en-US")} bytes | 413 |`,
    `| nesting of objects and arrays | ${maxNesting} levels | 422 |`,
    `| questions per request | 1 to ${maxQuestions} | 422 |`,
    `| candidates per question or ranking | ${minCandidates} to ${maxCandidates}, all different | 422 |`,
    `| candidates of all questions together | ${maxPairs} | 422 |`,
  ])
    assert.ok(page.includes(`\n${row}\n`), row);
});

/** The bounds of a document's schemas by schema and member, without those that leave everything open or are 0 to 1. */
function boundsOf(schemas: object): Record<string, (number | null)[]> {
  const found = Object.entries(schemas).flatMap(([name, schema]) => boundsWithin(name, schema));
  return Object.fromEntries(found);
}

function boundsWithin(place: string, node: unknown): [string, (number | null)[]][] {
  if (typeof node !== "object" || node === null) return [];
  const schema = node as Record<string, unknown>;
  const of = (...names: string[]) => names.map((name) => schema[name]).find((bound) => bound !== undefined);
  const most = of("maxItems", "maxProperties", "maximum");
  const least = of("minItems", "minProperties", "minimum");
  const own: [string, (number | null)[]][] =
    typeof most === "number" && most > 1 ? [[place, [typeof least === "number" ? least : null, most]]] : [];
  const inner = Object.entries(schema).flatMap(([name, value]) =>
    boundsWithin(name === "properties" ? place : `${place}.${name}`, value),
  );
  return [...own, ...inner];
}
