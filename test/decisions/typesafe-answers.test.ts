import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answerTypesafe, choiceConfidence, scoreConfidence } from "../../src/decisions/typesafe/answers.ts";
import type { TypesafeFacts } from "../../src/decisions/typesafe/request.ts";

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-12, `${actual} instead of ${expected}`);

/** Scores whose softmax at temperature 1 gives these probabilities. */
const scoresFor = (...shares: readonly number[]) => Float32Array.from(shares, Math.log);

function asked(type: TypesafeFacts["type"], labels: readonly string[], scoredBy = labels.map((_, at) => at)) {
  return {
    name: "q",
    type,
    labels,
    scoredBy,
    legend: type === "score" ? ["low", "mid", "high"].slice(0, labels.length) : [],
  };
}
const answer = (question: TypesafeFacts, scores: Float32Array) =>
  answerTypesafe([question], [scores], 1).get("q");

describe("the confidence of TypeSafe", () => {
  // the worked examples of its documentation: (3 * largest - 1) / 2 for three options; 0.925 for 0, 0.95, 0.05
  it("of a choice says how far the largest probability is above a guess", () => {
    near(choiceConfidence(Float64Array.of(1, 0, 0)), 1);
    near(choiceConfidence(Float64Array.of(0.8, 0.1, 0.1)), (3 * 0.8 - 1) / 2);
    near(choiceConfidence(Float64Array.of(0.25, 0.25, 0.25, 0.25)), 0);
    near(choiceConfidence(Float64Array.of(1)), 1);
  });

  it("of a score says how close the probabilities are to the likeliest level", () => {
    near(scoreConfidence(Float64Array.of(0, 0.95, 0.05)), 0.925);
    near(scoreConfidence(Float64Array.of(0, 1, 0)), 1);
    near(scoreConfidence(Float64Array.of(0.5, 0, 0.5)), 0); // more spread than evenly
    near(scoreConfidence(Float64Array.of(1)), 1);
  });
});

describe("an answer of TypeSafe", () => {
  it("rounds each number to two decimals, from its exact value", () => {
    assert.deepEqual(answer(asked("choice", ["a", "b"]), scoresFor(0.846, 0.154)), {
      type: "choice",
      choice: "a",
      probabilities: new Map([
        ["a", 0.85],
        ["b", 0.15],
      ]),
      confidence: 0.69, // of 0.846, not of 0.85
    });
    assert.deepEqual(answer(asked("noul", ["false", "true"]), scoresFor(0.014, 0.986)), {
      type: "noul",
      noul: 0.99,
    });
    assert.deepEqual(answer(asked("score", ["0", "1", "2"]), scoresFor(0.104, 0.104, 0.792)), {
      type: "score",
      score: 1.69, // 0.104 + 2 * 0.792 = 1.688
      legend: new Map([
        ["0", "low"],
        ["1", "mid"],
        ["2", "high"],
      ]),
      probabilities: new Map([
        ["0", 0.1],
        ["1", 0.1],
        ["2", 0.79],
      ]),
      confidence: 0.53, // 1 - 0.312 / (2 / 3)
    });
  });

  it("gives options of one description one share each", () => {
    const shared = answer(asked("choice", ["a", "b", "c"], [0, 1, 0]), scoresFor(0.5, 0.5));
    assert.ok(shared?.type === "choice");
    assert.deepEqual([...shared.probabilities.values()], [0.33, 0.33, 0.33]);
  });

  it("needs no model where only one answer is possible", () => {
    const single = answer(asked("choice", ["only"]), new Float32Array());
    assert.deepEqual(single, {
      type: "choice",
      choice: "only",
      probabilities: new Map([["only", 1]]),
      confidence: 1,
    });
    const level = answer(asked("score", ["0"]), new Float32Array());
    assert.ok(level?.type === "score");
    assert.deepEqual([level.score, level.confidence], [0, 1]);
    const same = answer(asked("choice", ["a", "b"], [0, 0]), new Float32Array());
    assert.ok(same?.type === "choice");
    assert.deepEqual([...same.probabilities.values(), same.confidence, same.choice], [0.5, 0.5, 0, "a"]);
  });

  it("takes no score that is missing or not finite for one", () => {
    const question = asked("choice", ["a", "b"]);
    for (const scores of [Float32Array.of(1), Float32Array.of(1, Number.NaN)]) {
      assert.throws(() => answer(question, scores), { kind: "BACKEND_FAILED" });
    }
  });
});
