import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WORKLOADS } from "../../bench/workloads/generated.ts";
import { WORDS } from "../../bench/workloads/words.ts";
import type { BenchRequest } from "../../bench/workloads/workload.ts";
import { REQUEST_LIMITS } from "../../src/decisions/request.ts";
import {
  dryRun,
  type QuestionReading,
  type RankingTokens,
  type TokenExplanation,
} from "../../src/library/index.ts";

/** What the embedded model reads: the questions by name, "" of a ranking. */
async function read({ body }: BenchRequest): Promise<ReadonlyMap<string, QuestionReading>> {
  const told: TokenExplanation | RankingTokens = JSON.parse(
    await dryRun(body.replace("{", '{"dry_run":true,')),
  );
  return new Map("question" in told ? [["", told.question]] : Object.entries(told.questions));
}

const named = (name: string) => WORKLOADS.find((workload) => workload.name === name) ?? assert.fail(name);

describe("workloads", () => {
  for (const workload of WORKLOADS) {
    it(`${workload.name}: the same seed gives the same requests, another index or seed others`, () => {
      const { body } = workload.request(7, 3);
      assert.equal(workload.request(7, 3).body, body);
      assert.notEqual(workload.request(7, 4).body, body);
      assert.notEqual(workload.request(8, 3).body, body);
    });

    it(`${workload.name}: is what it says, within the contract's limits`, async () => {
      for (const index of workload.name.startsWith("limit") ? [0] : [0, 1, 2, 3]) {
        const request = workload.request(1, index);
        assert.ok(Buffer.byteLength(request.body) <= REQUEST_LIMITS.maxBodyBytes);
        if (request.expectedStatus === 422) continue; // refused by its tokens, with the largest body
        const labels = [...(await read(request))].map(
          ([name, { candidates }]) => [name, Object.keys(candidates)] as const,
        );
        assert.deepEqual(new Map(labels), request.labels);
      }
    });
  }

  it("the limits are reached", async () => {
    const { labels } = named("limit-pairs").request(1, 0);
    assert.equal([...labels.values()].flat().length, REQUEST_LIMITS.maxPairs);
    const [[, question] = []] = await read(named("limit-tokens").request(1, 0));
    assert.equal(question?.state_question_tokens, 2_048);
  });

  it("every word is one token of the embedded model", async () => {
    const body = JSON.stringify({ state: WORDS.join(" "), candidates: ["a", "b"], dry_run: true });
    const { state }: RankingTokens = JSON.parse(await dryRun(body));
    assert.deepEqual(
      state.tokens.slice(1, -1).map(({ text }) => text),
      WORDS,
    );
    assert.equal(new Set(WORDS).size, WORDS.length);
  });
});
