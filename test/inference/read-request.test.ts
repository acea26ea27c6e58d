import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pathLength } from "../../src/inference/nodes.ts";
import { planRequest } from "../../src/inference/plan.ts";
import { readRequest } from "../../src/inference/read-request.ts";
import { JointTokenizer } from "../../src/inference/tokens/joint-tokenizer.ts";
import { jointPackage, renderedRequest, tokenizerJson } from "../support/gemma3.ts";

const LIMITS = { maxStateQuestionTokens: 2048, maxCandidateTokens: 768 };
const { signal } = new AbortController();

describe("a request for a model that reads pairs as one text", () => {
  const each = jointPackage("five-to-one");
  const tokenizer = new JointTokenizer(tokenizerJson(each), {
    bosId: 2,
    maxTokens: 4096,
    vocabulary: undefined,
  });

  it("is read as the tokens of its pairs", async () => {
    for (const decision of each.decisions) {
      const request = renderedRequest(decision);
      const { state, questions } = await readRequest(request, LIMITS, tokenizer, signal);
      const [leaves = []] = await planRequest(request, LIMITS, tokenizer, signal);
      const [question] = questions;
      const idsOf = (tokens: readonly { id: number }[] = []) => tokens.map(({ id }) => id);
      const first = question?.candidates[0];
      assert.deepEqual(
        [...idsOf(state.tokens), ...idsOf(question?.question.tokens), ...idsOf(first?.tokens)],
        decision.token_ids[0],
      );
      assert.deepEqual(
        question?.candidates.map(({ pairTokens }) => pairTokens),
        leaves.map(pathLength),
      );
      assert.ok(state.tokens.every(({ text, source }) => text !== "" && source === undefined));
      assert.equal(state.wasCached, undefined);
    }
  });
});
