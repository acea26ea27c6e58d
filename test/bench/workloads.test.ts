import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { before, describe, it } from "node:test";
import { SHORT } from "../../bench/workloads/fixed-sizes.ts";
import { forFewerTokens, MOST_PAIRS, MOST_TOKENS, takesFewerTokens } from "../../bench/workloads/limits.ts";
import { RequestReader } from "../../bench/workloads/reader.ts";
import { WORKLOADS } from "../../bench/workloads/table.ts";
import { WORDS } from "../../bench/workloads/words.ts";
import { type BenchRequest, countOf } from "../../bench/workloads/workload.ts";
import { REQUEST_LIMITS } from "../../src/decisions/request.ts";
import { ServiceError } from "../../src/errors.ts";
import type { ModelFacts } from "../../src/inference/engine.ts";
import { planRequest } from "../../src/inference/plan.ts";
import { PartTokenizer } from "../../src/inference/tokens/part-plan.ts";
import { WordPieceEncoder } from "../../src/inference/tokens/word-pieces.ts";
import { modelFacts, openModelPackage } from "../../src/models/package/package.ts";
import { embeddedModel } from "../support/package-root.ts";
import { type TokenTree, treeOf } from "../support/trees.ts";

describe("workloads", () => {
  let model: ModelFacts;
  let reader: RequestReader;
  let encoder: WordPieceEncoder;
  before(async () => {
    model = modelFacts(await openModelPackage(embeddedModel));
    reader = await RequestReader.open(model);
    encoder = new WordPieceEncoder(readFileSync(path.join(embeddedModel, "tokenizer.json"), "utf8"));
  });

  const plan = async (request: BenchRequest): Promise<TokenTree> =>
    treeOf(
      await planRequest(
        await reader.read(request),
        model.limits,
        new PartTokenizer(encoder, encoder),
        new AbortController().signal,
      ),
    );
  const sizes = ({ state, questions }: TokenTree) => ({
    state: state.length,
    questions: questions.map(({ tokens }) => tokens.length),
    candidates: questions.map(({ candidates }) => candidates.map(({ length }) => length)),
  });

  for (const workload of WORKLOADS) {
    it(`${workload.name}: the same seed gives the same requests, another index or seed others`, () => {
      const { body } = workload.request(7, 3);
      assert.equal(workload.request(7, 3).body, body);
      assert.notEqual(workload.request(7, 4).body, body);
      assert.notEqual(workload.request(8, 3).body, body);
    });

    it(`${workload.name}: is what it says, within the contract's limits`, async () => {
      for (const index of workload.name.startsWith("limit") ? [0] : [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) {
        const request = workload.request(1, index);
        assert.ok(Buffer.byteLength(request.body) <= REQUEST_LIMITS.maxBodyBytes);
        if (request.expectedStatus === 422) {
          await assert.rejects(
            plan(request),
            (error) => error instanceof ServiceError && error.kind === "INVALID_REQUEST",
          );
          continue;
        }
        const { questions } = await reader.read(request);
        const labels = questions.map(({ candidates }) => candidates.map(({ label }) => label));
        assert.deepEqual([...request.labels.values()], labels);
        const tree = await plan(request);
        assert.equal(countOf(request).pairs, sizes(tree).candidates.flat().length);
      }
    });
  }

  it("the limits are reached", async () => {
    assert.equal(countOf(MOST_PAIRS.request(1, 0)).pairs, REQUEST_LIMITS.maxPairs);
    const { state, questions } = sizes(await plan(MOST_TOKENS.request(1, 0)));
    assert.equal(state + (questions[0] ?? 0), model.limits.maxStateQuestionTokens);
  });

  it("may be too long for servers with smaller limits alone", () => {
    const limits = { max_state_question_tokens: 2048, max_candidate_tokens: 768 };
    for (const same of [undefined, {}, limits]) assert.equal(takesFewerTokens(same), false);
    assert.equal(takesFewerTokens({ ...limits, max_state_question_tokens: 512 }), true);
    assert.equal(takesFewerTokens({ ...limits, max_candidate_tokens: 64 }), true);
    const request = SHORT.request(1, 0);
    assert.deepEqual(forFewerTokens(SHORT).request(1, 0), { ...request, mayBeTooLong: true });
  });

  it("every word is one token of the embedded model", async () => {
    const parts = WORDS.map((text) => ({ role: "question", text, maxTokens: 100 }) as const);
    const encoded = await encoder.encodeParts(parts, {
      maxTooMany: 1,
      signal: new AbortController().signal,
    });
    const wrong = WORDS.filter((_, i) => !(encoded[i] instanceof Int32Array && encoded[i].length === 2));
    assert.deepEqual(wrong, []);
    assert.equal(new Set(WORDS).size, WORDS.length);
  });
});
