import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { ModelRunner } from "../../src/backends/onnx/forwards/model-runner.ts";
import { loadRunner } from "../../src/backends/onnx/process/load-runner.ts";
import { exactMultiplication } from "../../src/backends/onnx/runtime/exact-kernel.ts";
import { piecesPerThread } from "../../src/backends/onnx/runtime/work-split.ts";
import { buildGraph, tokenTreeShape } from "../../src/models/architectures/bert-token-tree/graph.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { bitsOf } from "../support/bits.ts";
import { gemma3Package, pairTree } from "../support/gemma3-golden.ts";
import { goldenDecisions, tokenTree } from "../support/golden.ts";
import { embeddedModel } from "../support/package-root.ts";
import { leavesOfTrees } from "../support/trees.ts";

describe("the embedded model with vectors", () => {
  let plain: ModelRunner;
  let withVectors: ModelRunner;
  let size: number;
  const forest = goldenDecisions.slice(0, 12).map(tokenTree);

  before(async () => {
    const modelPackage = await openModelPackage(embeddedModel);
    const shape = tokenTreeShape(modelPackage.manifest.architecture);
    const form = await exactMultiplication();
    size = shape.hidden;
    const load = async (hasVectors: boolean) =>
      ModelRunner.load(await buildGraph(modelPackage, form, undefined, hasVectors), shape, {
        threads: 2,
        stateCacheBytes: 0,
        piecesPerThread: await piecesPerThread(2),
      });
    [plain, withVectors] = [await load(false), await load(true)];
  });

  it("gives the same scores, to the last bit", async () => {
    const [raw, own] = [
      await plain.score(leavesOfTrees(forest)),
      await withVectors.score(leavesOfTrees(forest)),
    ];
    assert.equal(raw.vectors, undefined);
    assert.deepEqual(bitsOf(own.scores), bitsOf(raw.scores));
    assert.equal(own.vectors?.length, own.scores.length * size);
  });

  it("gives a pair the same vector alone and in company, to the last bit", async () => {
    const { vectors: all = assert.fail() } = await withVectors.score(leavesOfTrees(forest));
    let at = 0;
    for (const tree of forest) {
      const { vectors: alone = assert.fail() } = await withVectors.score(leavesOfTrees([tree]));
      assert.deepEqual(bitsOf(alone), bitsOf(all.subarray(at, at + alone.length)));
      at += alone.length;
    }
    assert.equal(at, all.length);
    const rows = new Set(Array.from({ length: all.length / size }, (_, row) => all[row * size]));
    assert.ok(rows.size > 1, "the vectors are those of their pairs");
  });
});

describe("a causal model with vectors", () => {
  let cache: string;
  before(async () => {
    cache = await mkdtemp(path.join(tmpdir(), "vectors-"));
  });
  after(() => rm(cache, { recursive: true }));

  it("gives the same scores, and a pair the same vector alone and in company", async () => {
    const { modelPackage, decisions } = await gemma3Package("five-to-one");
    const load = (hasVectors: boolean) => {
      const options = { threads: 2, stateCacheBytes: 0, hasVectors };
      return loadRunner(modelPackage, "fp32", options, { cache, temporary: cache });
    };
    const [plain, withVectors] = [await load(false), await load(true)];
    const forest = decisions.flatMap(({ token_ids: pairs }) => pairs.map((ids) => pairTree(ids, 1, 2)));
    const [raw, own] = [
      await plain.score(leavesOfTrees(forest)),
      await withVectors.score(leavesOfTrees(forest)),
    ];
    assert.equal(raw.vectors, undefined);
    assert.deepEqual(bitsOf(own.scores), bitsOf(raw.scores));
    const all = own.vectors ?? assert.fail();
    const size = all.length / own.scores.length;
    for (const [at, tree] of forest.entries()) {
      const { vectors: alone = assert.fail() } = await withVectors.score(leavesOfTrees([tree]));
      assert.deepEqual(bitsOf(alone), bitsOf(all.subarray(at * size, (at + 1) * size)));
    }
  });
});
