import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { components } from "../../generated/types.ts";
import type { Ordered } from "../../src/contract/call.ts";
import { answerQuestions, probabilities } from "../../src/decisions/answers.ts";
import { rankCandidates } from "../../src/decisions/rank.ts";
import { REQUEST_LIMITS } from "../../src/decisions/request.ts";
import type { QuestionFacts } from "../../src/decisions/systemone.ts";
import { seededRandom } from "../support/seeded-random.ts";

const TEMPERATURE = 4.136820402388508;
const sent = (...texts: string[]) =>
  texts.map((text, i) => ({ label: String(i), text, loc: ["body", "candidates", i] }));
const sharesOf = (...scores: number[]) => [...probabilities(Float32Array.from(scores), TEMPERATURE)];

/** The answer to one question, by the type of the contract. */
function answer(type: QuestionFacts["type"], labels: readonly string[], ...scores: number[]) {
  const answers: ReadonlyMap<string, Ordered<components["schemas"]["Answer"]>> = answerQuestions(
    [{ name: "q", type, labels }],
    [Float32Array.from(scores)],
    TEMPERATURE,
  );
  return answers.get("q");
}

describe("answers", () => {
  it("to a choice are the label with the largest score", () => {
    const shares = sharesOf(0.1, 2.5, -1);
    assert.deepEqual(answer("choice", ["10", "2", "1"], 0.1, 2.5, -1), {
      type: "choice",
      choice: "2",
      probabilities: new Map(["10", "2", "1"].map((label, at) => [label, shares[at]])),
      confidence: shares[1],
      scores: new Map([
        ["10", Math.fround(0.1)],
        ["2", 2.5],
        ["1", -1],
      ]),
    });
  });

  it("among equal scores have the first label", () => {
    assert.equal(Object(answer("choice", ["a", "b", "c"], -3, 1, 1)).choice, "b");
  });

  it("to a noul are the probability of true, their confidence the larger of the two", () => {
    const { noul, confidence } = Object(answer("noul", ["false", "true"], 3, -3));
    assert.deepEqual([confidence, noul], sharesOf(3, -3));
  });

  it("to a score are the expected level of the very probabilities that are sent", () => {
    const [, one = 0, two = 0] = sharesOf(0, 1, 5);
    assert.equal(Object(answer("score", ["0", "1", "2"], 0, 1, 5)).score, one + 2 * two);
  });

  it("come by name in request order", () => {
    const names = ["9", "1", ""];
    const facts = names.map((name) => ({ name, type: "noul", labels: ["false", "true"] }) as const);
    const scores = names.map(() => Float32Array.of(0, 1));
    assert.deepEqual([...answerQuestions(facts, scores, TEMPERATURE).keys()], names);
  });

  it("are a failure of the model where scores do not fit the questions", () => {
    assert.throws(() => answer("noul", ["false", "true"], 1), { kind: "BACKEND_FAILED" });
  });
});

describe("ranking", () => {
  it("goes from the largest score to the smallest, equals in request order, each with its probability", () => {
    const shares = sharesOf(1, 3, 1, 3);
    const ranked: components["schemas"]["RankedCandidate"][] = rankCandidates(
      sent("a", " b ", "c", "d"),
      Float32Array.of(1, 3, 1, 3),
      TEMPERATURE,
    );
    assert.deepEqual(ranked, [
      { rank: 1, candidate: "1", text: " b ", score: 3, probability: shares[1] },
      { rank: 2, candidate: "3", text: "d", score: 3, probability: shares[3] },
      { rank: 3, candidate: "0", text: "a", score: 1, probability: shares[0] },
      { rank: 4, candidate: "2", text: "c", score: 1, probability: shares[2] },
    ]);
  });

  it("takes no scores that do not fit", () => {
    for (const scores of [undefined, Float32Array.of(1, Number.NaN)])
      assert.throws(() => rankCandidates(sent("a", "b"), scores, TEMPERATURE), { kind: "BACKEND_FAILED" });
  });
});

describe("probabilities", () => {
  it("are the softmax of the scores over the temperature", () => {
    const weights = [0.5, 1, 2].map(Math.exp);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    for (const [i, share] of probabilities(Float32Array.of(1, 2, 4), 2).entries())
      assert.ok(Math.abs(share - (weights[i] ?? 0) / total) < 1e-15);
  });

  it("sum to 1 within 1e-12 for any number of candidates and any size of score", () => {
    const random = seededRandom(4);
    for (let round = 0; round < 500; round++) {
      const count = 1 + random.below(REQUEST_LIMITS.maxCandidates);
      const scores = Array.from({ length: count }, () => (random.next() - 0.5) * 10 ** (random.next() * 6));
      assert.ok(Math.abs(sharesOf(...scores).reduce((a, b) => a + b, 0) - 1) < 1e-12);
    }
  });

  it("do not overflow on the largest float32", () => assert.deepEqual(sharesOf(3.4e38, -3.4e38), [1, 0]));

  for (const bad of [Number.NaN, Infinity, -Infinity])
    it(`are a failure of the model with a score of ${bad}`, () =>
      assert.throws(() => sharesOf(1, bad), { kind: "BACKEND_FAILED" }));
});
