import assert from "node:assert/strict";
import { test } from "node:test";
import document from "../../generated/openapi.json" with { type: "json" };
import { REQUEST_LIMITS } from "../../src/decisions/limits.ts";

const { schemas } = document.components;

test("the contract's schemas state the limits that requests are held to", () => {
  const { maxQuestions, minCandidates, maxCandidates } = REQUEST_LIMITS;
  const { maxProperties } = schemas.SystemoneRequest.properties.questions;
  const labels = schemas.ChoiceQuestion.properties.criteria;
  const levels = schemas.ScoreQuestion.properties.criteria;
  const { ranked } = schemas.Ranking.properties;
  assert.equal(maxProperties, maxQuestions);
  assert.deepEqual([labels.minProperties, labels.maxProperties], [minCandidates, maxCandidates]);
  assert.deepEqual([levels.minItems, levels.maxItems], [minCandidates, maxCandidates]);
  assert.deepEqual([ranked.minItems, ranked.maxItems], [minCandidates, maxCandidates]);
});

test("the example of the health report tells them", () => {
  const { limits } = document.components.examples.Ready.value;
  assert.equal(limits.max_body_bytes, REQUEST_LIMITS.maxBodyBytes);
  assert.equal(limits.max_nesting, REQUEST_LIMITS.maxNesting);
  assert.equal(limits.max_questions, REQUEST_LIMITS.maxQuestions);
  assert.equal(limits.min_candidates, REQUEST_LIMITS.minCandidates);
  assert.equal(limits.max_candidates, REQUEST_LIMITS.maxCandidates);
  assert.equal(limits.max_pairs, REQUEST_LIMITS.maxPairs);
});
