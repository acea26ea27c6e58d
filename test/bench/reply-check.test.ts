import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findFault } from "../../bench/http/reply-check.ts";
import { TOO_LONG } from "../../bench/measure/tally.ts";
import { rankRequest, systemoneRequest } from "../../bench/workloads/requests.ts";

const SYSTEMONE = systemoneRequest("s", {
  q: { type: "choice", instructions: "?", criteria: { a: null, b: null } },
});
const ANSWER = {
  type: "choice",
  choice: "a",
  probabilities: { a: 0.75, b: 0.25 },
  confidence: 0.75,
  scores: { a: 2, b: 1 },
};
const NOUL = systemoneRequest("s", { q: { type: "noul", instructions: "?" } });
const SCORE = systemoneRequest("s", { q: { type: "score", instructions: "?", criteria: ["a", "b", "c"] } });
const noul = (value: unknown) =>
  answerOf({
    type: "noul",
    noul: value,
    probabilities: { false: 0.75, true: 0.25 },
    confidence: 0.75,
    scores: { false: 2, true: 1 },
  });
const score = (value: unknown) =>
  answerOf({
    type: "score",
    score: value,
    probabilities: { "0": 0.25, "1": 0.25, "2": 0.5 },
    confidence: 0.5,
    scores: { "0": 1, "1": 1, "2": 2 },
  });
const RANK = rankRequest("s", "", ["x", "y"]);
const RANKED = [
  { rank: 1, candidate: "1", text: "y", score: 3, probability: 0.6 },
  { rank: 2, candidate: "0", text: "x", score: 1, probability: 0.4 },
];

function answerOf(answer: object): string {
  return JSON.stringify({ answers: { q: answer } });
}
const answers = (changes: object) => answerOf({ ...ANSWER, ...changes });
const ranked = (rows: readonly object[]) => JSON.stringify({ ranked: rows });

describe("an answer is checked", () => {
  it("and right ones pass", () => {
    assert.equal(findFault(SYSTEMONE, 200, answers({})), undefined);
    assert.equal(findFault(NOUL, 200, noul(0.25)), undefined);
    assert.equal(findFault(SCORE, 200, score(1.25)), undefined);
    assert.equal(findFault(RANK, 200, ranked(RANKED)), undefined);
    assert.equal(findFault({ ...RANK, expectedStatus: 422 }, 422, '{"detail": []}'), undefined);
  });

  it("and a right refusal is told from others", () => {
    const own = { ...RANK, mayBeTooLong: false };
    const refusal = (...types: string[]) => JSON.stringify({ detail: types.map((type) => ({ type })) });
    assert.equal(findFault(RANK, 422, refusal("too_many_tokens")), TOO_LONG);
    assert.match(findFault(RANK, 422, refusal("too_many_tokens", "missing")) ?? "", /^status 422/);
    assert.match(findFault(RANK, 422, refusal()) ?? "", /^status 422/);
    assert.match(findFault(own, 422, refusal("too_many_tokens")) ?? "", /^status 422/);
  });

  const cases: readonly (readonly [string, string, RegExp, typeof SYSTEMONE?, number?])[] = [
    ["another status", "{}", /status 503/, SYSTEMONE, 503],
    ["no JSON", "<html>", /not a JSON object/],
    ["no answers", "{}", /not those of the questions/],
    ["another question", JSON.stringify({ answers: { r: ANSWER } }), /not those of the questions/],
    ["another label", answers({ scores: { a: 2, c: 1 } }), /labels/],
    ["a number that is none", answers({ scores: { a: 2, b: null } }), /number/],
    ["a sum that is not 1", answers({ probabilities: { a: 0.75, b: 0.3 } }), /add up/],
    ["a wrong confidence", answers({ confidence: 0.25 }), /confidence/],
    ["a wrong choice", answers({ choice: "b" }), /largest score/],
    ["a noul for false", noul(0.75), /probability of true/, NOUL],
    ["a noul that is a boolean", noul(false), /probability of true/, NOUL],
    ["the likeliest level", score(2), /expected level/, SCORE],
    ["no score", score(undefined), /expected level/, SCORE],
    ["a ranking upside down", ranked([...RANKED].reverse()), /order/, RANK],
    ["a candidate twice", ranked([...RANKED, ...RANKED]), /twice|labels/, RANK],
    ["a candidate too few", ranked(RANKED.slice(1)), /labels/, RANK],
  ];
  for (const [name, body, says, request = SYSTEMONE, status = 200] of cases) {
    it(`and fails for ${name}`, () => assert.match(findFault(request, status, body) ?? "nothing", says));
  }
});
