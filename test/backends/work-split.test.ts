import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addsUpAlike, piecesPerThread } from "../../src/backends/onnx/runtime/work-split.ts";
import { treeModel } from "../../src/backends/tensors/tree-model.ts";

const SHAPE = {
  vocab: 100,
  hidden: 384,
  heads: 12,
  inner: 1536,
  layers: 6,
  positions: 512,
  layerNormEpsilon: 1e-12,
};

describe("the pieces that a run's products are cut into", () => {
  it("are seen where there are fewer products than threads", async () => {
    assert.equal(await addsUpAlike(2, 1), false);
    assert.equal(await addsUpAlike(8, 3), false);
  });

  it("are one for each thread, or four on processors with two kinds of cores", async () => {
    const pieces = (await addsUpAlike(2, 2)) ? 1 : 4;
    assert.deepEqual([await piecesPerThread(1), await piecesPerThread(5)], [1, pieces]);
  });

  it("are no more than there are heads", () => {
    const threadsOf = (threads: number, pieces: number) => treeModel(SHAPE, threads, pieces).threads;
    assert.deepEqual([threadsOf(2, 1), threadsOf(16, 1)], [2, 12]);
    assert.deepEqual([threadsOf(2, 4), threadsOf(16, 4)], [2, 3]);
  });
});
