import assert from "node:assert/strict";
import { it } from "node:test";
import { probabilities } from "../../src/decisions/answers.ts";
import { REQUEST_LIMITS } from "../../src/decisions/request.ts";
import { seededRandom } from "../support/seeded-random.ts";

const { minCandidates, maxCandidates } = REQUEST_LIMITS;

const TEMPERATURE = 4.136820402388508;

it("is the softmax of the scores over the temperature", () => {
  const given = probabilities(Float32Array.of(1, 2, 4), 2);
  const weights = [0.5, 1, 2].map(Math.exp);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  for (const [i, weight] of weights.entries()) assert.ok(Math.abs((given[i] ?? 0) - weight / total) < 1e-15);
});

it("sums to 1 within 1e-12 for any number of candidates and any size of score", () => {
  const random = seededRandom(4).next;
  for (let round = 0; round < 500; round++) {
    const scores = Float32Array.from(
      { length: minCandidates + Math.floor(random() * (maxCandidates - minCandidates + 1)) },
      () => (random() - 0.5) * 10 ** (random() * 6),
    );
    const sum = probabilities(scores, TEMPERATURE).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum - 1) < 1e-12);
  }
});

it("does not overflow on the largest float32", () => {
  assert.deepEqual([...probabilities(Float32Array.of(3.4e38, -3.4e38), TEMPERATURE)], [1, 0]);
});

for (const bad of [Number.NaN, Infinity, -Infinity]) {
  it(`calls a score of ${bad} a failure of the model`, () => {
    assert.throws(() => probabilities(Float32Array.of(1, bad), TEMPERATURE), { kind: "BACKEND_FAILED" });
  });
}
