import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { components } from "../../generated/types.ts";
import type { Ordered } from "../../src/contract/call.ts";
import {
  type Answer,
  answerChoice,
  answerNoul,
  answerQuestions,
  answerScore,
  probabilities,
} from "../../src/decisions/answers.ts";
import { rankCandidates } from "../../src/decisions/rank.ts";

const TEMPERATURE = 4.136820402388508;
const sent = (...texts: string[]) =>
  texts.map((text, i) => ({ label: String(i), text, loc: ["body", "candidates", i] }));

describe("answers", () => {
  it("a choice is the label with the largest score", () => {
    const scores = Float32Array.of(0.1, 2.5, -1);
    const answer = answerChoice(["10", "2", "1"], scores, TEMPERATURE);
    assert.equal(answer.choice, "2");
    assert.deepEqual(
      [...answer.scores],
      [
        ["10", Math.fround(0.1)],
        ["2", 2.5],
        ["1", -1],
      ],
    );
    assert.deepEqual([...answer.probabilities.keys()], ["10", "2", "1"]);
    assert.equal(answer.confidence, answer.probabilities.get("2"));
  });

  it("among equal scores the first label is chosen", () => {
    assert.equal(answerChoice(["a", "b", "c"], Float32Array.of(-3, 1, 1), TEMPERATURE).choice, "b");
  });

  it("a noul is the probability of true, its confidence the larger of the two", () => {
    const answer = answerNoul(Float32Array.of(3, -3), TEMPERATURE);
    const [no = 0, yes = 0] = probabilities(Float32Array.of(3, -3), TEMPERATURE);
    assert.deepEqual([answer.noul, answer.confidence], [yes, no]);
    assert.deepEqual(
      [...answer.probabilities],
      [
        ["false", no],
        ["true", yes],
      ],
    );
    assert.deepEqual(
      [...answer.scores],
      [
        ["false", 3],
        ["true", -3],
      ],
    );
  });

  it("a score is the expected level of the very probabilities that are sent", () => {
    const answer = answerScore(Float32Array.of(0, 1, 5), TEMPERATURE);
    const shares = Object.fromEntries(answer.probabilities);
    assert.equal(answer.score, (shares["1"] ?? 0) + 2 * (shares["2"] ?? 0));
    assert.deepEqual(Object.keys(shares), ["0", "1", "2"]);
  });

  it("answers come by name in request order, in the shape of the contract", () => {
    const answers: ReadonlyMap<string, Answer> = answerQuestions(
      [
        { name: "9", type: "noul", labels: ["false", "true"] },
        { name: "1", type: "choice", labels: ["a", "b"] },
        { name: "", type: "score", labels: ["0", "1"] },
      ],
      [Float32Array.of(0, 1), Float32Array.of(0, 1), Float32Array.of(0, 1)],
      TEMPERATURE,
    );
    const inContract: ReadonlyMap<string, Ordered<components["schemas"]["Answer"]>> = answers; // checked by the compiler
    assert.deepEqual(
      [...inContract].map(([name]) => name),
      ["9", "1", ""],
    );
    assert.deepEqual(
      [...answers.values()].map(({ type }) => type),
      ["noul", "choice", "score"],
    );
  });

  it("scores that do not fit the questions are a failure of the model", () => {
    const asked = [{ name: "q", type: "noul", labels: ["false", "true"] } as const];
    assert.throws(() => answerQuestions(asked, [], TEMPERATURE), { kind: "BACKEND_FAILED" });
    assert.throws(() => answerQuestions(asked, [Float32Array.of(1)], TEMPERATURE), {
      kind: "BACKEND_FAILED",
    });
  });
});

describe("ranking", () => {
  it("goes from the largest score to the smallest, equals in request order", () => {
    const ranked = rankCandidates(sent("a", " b ", "c", "d"), Float32Array.of(1, 3, 1, 3), TEMPERATURE);
    assert.deepEqual(
      ranked.map(({ rank, candidate, text, score }) => [rank, candidate, text, score]),
      [
        [1, "1", " b ", 3],
        [2, "3", "d", 3],
        [3, "0", "a", 1],
        [4, "2", "c", 1],
      ],
    );
  });

  it("gives each candidate its own probability", () => {
    const scores = Float32Array.of(1, 3);
    const shares = probabilities(scores, TEMPERATURE);
    const ranked: components["schemas"]["RankedCandidate"][] = rankCandidates(
      sent("a", "b"),
      scores,
      TEMPERATURE,
    );
    assert.deepEqual(
      ranked.map(({ probability }) => probability),
      [shares[1], shares[0]],
    );
  });

  it("takes no scores that do not fit", () => {
    assert.throws(() => rankCandidates(sent("a", "b"), undefined, TEMPERATURE), { kind: "BACKEND_FAILED" });
    assert.throws(() => rankCandidates(sent("a", "b"), Float32Array.of(1, Number.NaN), TEMPERATURE), {
      kind: "BACKEND_FAILED",
    });
  });
});
