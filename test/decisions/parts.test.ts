import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { joinScores, splitRequests } from "../../src/decisions/parts.ts";
import { REQUEST_LIMITS, type RenderedRequest } from "../../src/decisions/request.ts";

const { maxQuestions, maxCandidates, maxPairs } = REQUEST_LIMITS;

const text = (content: string) => ({ text: content, loc: ["body"] });

/** A request with so many candidates in each question; texts are unique. */
function requestOf(counts: readonly number[]): RenderedRequest {
  return {
    state: text("state"),
    questions: counts.map((count, question) => ({
      question: text(`q${question}`),
      candidates: Array.from({ length: count }, (_, at) => ({
        ...text(`${question}-${at}`),
        label: String(at),
      })),
    })),
  };
}

/** A score that only the candidate's text decides. */
const scoreOf = (candidate: { readonly text: string }) =>
  candidate.text.split("-").reduce((sum, part) => sum * 1000 + Number(part), 1);

describe("a request in parts", () => {
  for (const counts of [
    [2],
    [maxCandidates],
    [maxCandidates + 1],
    [255],
    [0, 3, 0],
    [255, 255, 2],
    Array.from({ length: maxQuestions + 1 }, () => 2),
    Array.from({ length: 1024 }, () => 4),
    Array.from({ length: 16 }, () => 255),
  ]) {
    it(`keeps every limit of the engine and every score: ${counts.length} questions of ${counts[0]}`, () => {
      const request = requestOf(counts);
      const { parts, slices } = splitRequests([request]);
      for (const part of parts) {
        assert.ok(part.questions.length <= maxQuestions);
        const sizes = part.questions.map(({ candidates }) => candidates.length);
        assert.ok(Math.max(...sizes) <= maxCandidates && Math.min(...sizes) > 0);
        assert.ok(sizes.reduce((sum, size) => sum + size) <= maxPairs);
      }
      const scores = parts.flatMap((part) =>
        part.questions.map(({ candidates }) => Float32Array.from(candidates, scoreOf)),
      );
      const expected = request.questions.map(({ candidates }) => Float32Array.from(candidates, scoreOf));
      assert.deepEqual(joinScores(slices, counts, scores), expected);
    });
  }

  it("leaves a request within the limits in one part", () => {
    const whole = requestOf(Array.from({ length: maxQuestions }, () => maxPairs / maxQuestions));
    assert.deepEqual(splitRequests([whole]).parts, [whole]);
    assert.deepEqual(splitRequests([requestOf([0])]), { parts: [], slices: [] });
  });

  it("keeps requests on several states apart, and counts their questions on", () => {
    const requests = [requestOf([2, 0]), requestOf([0]), requestOf([3])];
    const { parts, slices } = splitRequests(requests);
    assert.deepEqual(
      parts.map(({ questions }) => questions.map(({ candidates }) => candidates.length)),
      [[2], [3]],
    );
    assert.deepEqual(slices, [
      { question: 0, start: 0 },
      { question: 3, start: 0 },
    ]);
  });

  it("does not take missing or further scores for scores", () => {
    const { slices } = splitRequests([requestOf([3])]);
    assert.throws(() => joinScores(slices, [3], []), { kind: "BACKEND_FAILED" });
    assert.throws(() => joinScores(slices, [3], [new Float32Array(4)]), { kind: "BACKEND_FAILED" });
    assert.deepEqual(joinScores(slices, [3], [new Float32Array(2)]), [Float32Array.of(0, 0, Number.NaN)]);
  });
});
