import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { buildPairGraph } from "../../bench/engine/process/pair-graph.ts";
import { PairRunner } from "../../bench/engine/process/pair-runner.ts";
import { packageTensors, tokenTreeShape } from "../../src/models/graph/graph.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { goldenDecisions, tokenTree } from "../support/golden.ts";
import { embeddedModel } from "../support/package-root.ts";

/** Tolerance against the package's golden file: float32, PyTorch against ONNX Runtime. */
const TOLERANCE = 1e-3;

describe("the baseline", () => {
  it("gives the golden scores pair by pair, padded in batches of any size", async () => {
    const modelPackage = await openModelPackage(embeddedModel);
    const shape = tokenTreeShape(modelPackage.manifest.architecture);
    const graph = buildPairGraph(shape, await packageTensors(modelPackage, "model.safetensors"));
    const runner = await PairRunner.load(graph, shape, 2);
    for (const batch of [1, 5, 32]) {
      // 32 pairs of the longest states, padded, take 9 GB; every length comes in some batch
      const decisions = goldenDecisions.filter(({ token_ids }) => batch * token_ids.state.length <= 2_000);
      const wanted = decisions.flatMap(({ scores }) => scores);
      const { scores, forwards } = await runner.score(decisions.map(tokenTree), batch);
      assert.ok(scores.length >= batch, "a whole batch at least");
      assert.equal(scores.length, wanted.length);
      assert.equal(forwards, Math.ceil(wanted.length / batch));
      const errors = wanted.map((score, i) => Math.abs(score - (scores[i] ?? Number.NaN)));
      assert.ok(
        errors.every((error) => error <= TOLERANCE),
        `off by ${Math.max(...errors)} in batches of ${batch}`,
      );
    }
  });
});
