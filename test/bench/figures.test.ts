import assert from "node:assert/strict";
import { it } from "node:test";
import { bounded, inRounds, QUICK } from "../../bench/effort.ts";
import { manyCandidates, warmQuestion } from "../../bench/engine/figures.ts";
import type { EngineRun, Prepared } from "../../bench/engine/subject.ts";
import { REQUEST_LIMITS } from "../../src/decisions/limits.ts";
import type { RenderedRequest } from "../../src/decisions/rendered.ts";

/** A run with engines that answer at once and record their name and the number of pairs. */
function fakeRun(asked: string[]): EngineRun {
  const engine = (name: string) => ({
    async score({ questions }: RenderedRequest) {
      const scores = questions.map(({ candidates }) => new Float32Array(candidates.length));
      asked.push(`${name} ${scores.reduce((sum, { length }) => sum + length, 0)}`);
      return { scores };
    },
  });
  const prepare = async (request: Prepared["request"]) => {
    const questions = [...request.labels.values()].map((labels) => ({
      candidates: labels.map((label) => ({ label })),
    }));
    return { request, rendered: { questions } };
  };
  const subject = { engine: engine("engine"), baseline: engine("baseline"), pairBackend: {}, prepare };
  const effort = bounded({ ...QUICK, sliceMs: 0, figureMs: 0 }, {});
  const { signal } = new AbortController();
  // the figures below look at nothing else of it
  return { subject, effort, seed: 1, signal, progress: () => {} } as unknown as EngineRun;
}

it("engine and baseline are both warm, and measured three times at least, when they are compared", async () => {
  const asked: string[] = [];
  const [ratio, engine, baseline] = await manyCandidates(fakeRun(asked));
  assert.deepEqual(asked.slice(0, 2).sort(), ["baseline 4", `engine ${REQUEST_LIMITS.maxCandidates}`]);
  assert.deepEqual(asked.slice(2), [
    ...[`engine ${REQUEST_LIMITS.maxCandidates}`, "baseline 4"],
    ...["baseline 4", `engine ${REQUEST_LIMITS.maxCandidates}`],
    ...[`engine ${REQUEST_LIMITS.maxCandidates}`, "baseline 4"],
  ]);
  for (const figure of [ratio, engine, baseline]) assert.equal(figure?.rounds.length, 3);
});

it("a warm state is measured three times at least", async () => {
  const [share] = await warmQuestion(fakeRun([]));
  assert.equal(share?.rounds.length, 3);
});

it("two servers are compared in more rounds of the same time in all", () => {
  const effort = inRounds(QUICK, 5);
  assert.equal(effort.httpRounds, 5);
  assert.equal(effort.closedMs * 5, QUICK.closedMs * QUICK.httpRounds);
  assert.equal(effort.openMs * 5, QUICK.openMs * QUICK.httpRounds);
  assert.deepEqual(inRounds(effort, 5), effort);
});
