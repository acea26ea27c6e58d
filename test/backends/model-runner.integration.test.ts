import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { ModelRunner } from "../../src/backends/onnx/forwards/model-runner.ts";
import { buildGraph, tokenTreeShape } from "../../src/models/architectures/bert-token-tree/graph.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { goldenDecisions, tokenTree } from "../support/golden.ts";
import { embeddedModel } from "../support/package-root.ts";
import { leavesOfTrees } from "../support/trees.ts";

/** Tolerance against the package's golden file: float32, PyTorch against ONNX Runtime. */
const TOLERANCE = 1e-3;
/**
 * Tolerances of int8 against the golden scores: largest difference of any score, and mean over the decisions of each
 * one's largest difference. Measured: 0.4 and 0.18, from rounding weights and rows to bytes. The margin is for
 * processors with other float32 kernels.
 */
const INT8_LARGEST = 0.8;
const INT8_MEAN = 0.3;

describe("the embedded model", () => {
  let graph: Uint8Array;
  let load: (stateCacheBytes: number, graph?: Uint8Array) => Promise<ModelRunner>;

  before(async () => {
    const modelPackage = await openModelPackage(embeddedModel);
    graph = await buildGraph(modelPackage, "fp32");
    const shape = tokenTreeShape(modelPackage.manifest.architecture);
    load = (stateCacheBytes, bytes = graph) =>
      ModelRunner.load(bytes, shape, { threads: 2, stateCacheBytes });
  });

  it("gives the golden scores", async () => {
    const runner = await load(0);
    for (const decision of goldenDecisions) {
      const { scores } = await runner.score(leavesOfTrees([tokenTree(decision)]));
      assert.equal(scores.length, decision.scores.length);
      for (const [i, wanted] of decision.scores.entries()) {
        const error = Math.abs((scores[i] ?? Number.NaN) - wanted);
        assert.ok(error <= TOLERANCE, `${decision.question}, candidate ${i}: off by ${error}`);
      }
    }
  });

  it("chooses in int8 as in float32 wherever that is clear", async () => {
    const int8 = await buildGraph(await openModelPackage(embeddedModel), "u8u8");
    const runner = await load(0, int8);
    const largest: number[] = [];
    for (const decision of goldenDecisions) {
      const { scores } = await runner.score(leavesOfTrees([tokenTree(decision)]));
      const differences = decision.scores.map((wanted, i) => Math.abs((scores[i] ?? Number.NaN) - wanted));
      largest.push(Math.max(...differences));
      const [best = 0, second = Number.NEGATIVE_INFINITY] = [...decision.scores].sort((a, b) => b - a);
      if (best - second < 2 * INT8_LARGEST) continue;
      assert.equal(scores.indexOf(Math.max(...scores)), decision.scores.indexOf(best), decision.question);
    }
    const mean = largest.reduce((sum, x) => sum + x, 0) / largest.length;
    assert.ok(Math.max(...largest) < INT8_LARGEST, `off by ${Math.max(...largest)}`);
    assert.ok(mean < INT8_MEAN, `off by ${mean} in the mean`);
  });
});
