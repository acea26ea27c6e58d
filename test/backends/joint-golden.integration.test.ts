import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { loadRunner, multiplicationOf } from "../../src/backends/onnx/process/load-runner.ts";
import { planRequest } from "../../src/inference/plan.ts";
import type { Precision } from "../../src/models/architectures/architecture.ts";
import { openTokenizer } from "../../src/models/architectures/architectures.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { type JointPackage, jointPackages, renderedRequest } from "../support/gemma3.ts";

/** Tolerance against the reference library's float32 scores. Measured: at most 1.6e-5. */
const FP32_TOLERANCE = 1e-4;
/**
 * Tolerance relative to the spread of a package's scores. Measured: at most 0.34, on average 0.076. These models have
 * 32 to 40 columns and are made sensitive on purpose, so the bound detects faults but does not describe the rounding of
 * a trained model.
 */
const INT8 = { worst: 0.5, mean: 0.12 };

describe("from texts to scores, cut and folded as the service does it", () => {
  let cache: string;
  before(async () => {
    cache = await mkdtemp(path.join(tmpdir(), "joint-golden-"));
  });
  after(() => rm(cache, { recursive: true }));

  async function errorsOf({ folder, decisions }: JointPackage, precision: Precision) {
    const modelPackage = await openModelPackage(folder);
    const tokenizer = await openTokenizer(modelPackage);
    const { max_state_question_tokens, max_candidate_tokens } = modelPackage.manifest.limits;
    const limits = {
      maxStateQuestionTokens: max_state_question_tokens,
      maxCandidateTokens: max_candidate_tokens,
    };
    const form = await multiplicationOf(precision);
    const folders = { cache, temporary: cache };
    const runner = await loadRunner(modelPackage, form, { threads: 2, stateCacheBytes: 0 }, folders);
    const errors: number[] = [];
    for (const decision of decisions) {
      const { signal } = new AbortController();
      const plan = await planRequest(renderedRequest(decision), limits, tokenizer, signal);
      const { scores } = await runner.score(plan.flat());
      assert.equal(scores.length, decision.scores.length);
      for (const [i, score] of scores.entries())
        errors.push(Math.abs(score - (decision.scores[i] ?? Number.NaN)));
    }
    return errors;
  }

  for (const each of jointPackages) {
    it(`${each.name}: fp32 gives the golden scores`, async () => {
      const errors = await errorsOf(each, "fp32");
      assert.ok(Math.max(...errors) <= FP32_TOLERANCE, `off by ${Math.max(...errors)}`);
    });

    if (each.name === "onnx-export") continue; // an imported graph computes in its own precision
    it(`${each.name}: int8 stays near them`, async () => {
      const errors = await errorsOf(each, "int8");
      const spread = deviation(each.decisions.flatMap(({ scores }) => scores));
      const worst = Math.max(...errors) / spread;
      const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length / spread;
      assert.ok(worst <= INT8.worst && mean <= INT8.mean, `off by ${worst} at most, ${mean} on average`);
      assert.ok(mean > 1e-4, "this is not int8");
    });
  }
});

function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
