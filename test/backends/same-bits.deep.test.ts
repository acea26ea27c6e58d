import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exactMultiplication } from "../../src/backends/onnx/runtime/exact-kernel.ts";
import { firstDifference } from "./same-bits.ts";
import { fullGraph, fullShape, scorer, shallowGraph, shallowShape, sharedForwards } from "./shallow-model.ts";

const COMPOSITIONS = 460;
const FEWEST_PAIRS = 2000;
const ALL_STATES = 256 << 20;
/** A cache for some of the states, so that there are hits and misses. */
const SOME_STATES = 2 << 20;

describe("a pair has the same bits alone and in any company", () => {
  for (const [seed, form] of (["fp32", "u8s8", "u8u8"] as const).entries()) {
    it(`${form}: from a cold and a warm cache, with one thread and with more`, async (t) => {
      const graph = await shallowGraph(form);
      const load = (threads: number, stateCacheBytes: number) =>
        scorer(graph, shallowShape, { threads, stateCacheBytes });
      const alone = await load(1, 0);
      const shared = await sharedForwards(graph, 5, ALL_STATES);
      const company = [
        alone,
        await load(2, ALL_STATES),
        await load(1, SOME_STATES),
        await load(5, 0),
        shared,
      ];
      const found = await firstDifference(alone, company, { seed, compositions: COMPOSITIONS });
      assert.equal(found.difference, null);
      t.diagnostic(`${found.compositions} compositions, ${found.pairs} pairs compared`);
      assert.ok(found.pairs >= FEWEST_PAIRS, `only ${found.pairs} pairs were compared`);
    });

    it(`${form}: through all layers`, async () => {
      const graph = await fullGraph(form);
      const alone = await scorer(graph, fullShape, { threads: 1, stateCacheBytes: 0 });
      const company = await scorer(graph, fullShape, { threads: 2, stateCacheBytes: ALL_STATES });
      const found = await firstDifference(alone, [company], { seed: seed + 10, compositions: 4 });
      assert.equal(found.difference, null);
    });
  }

  it("signed and unsigned weights give the same bits where the signed product is exact", async (t) => {
    if ((await exactMultiplication()) !== "u8s8") {
      t.skip("this processor's product of unsigned by signed bytes saturates");
      return;
    }
    const options = { threads: 2, stateCacheBytes: 0 };
    const unsigned = await scorer(await shallowGraph("u8u8"), shallowShape, options);
    const signed = await scorer(await shallowGraph("u8s8"), shallowShape, options);
    const found = await firstDifference(unsigned, [signed], { seed: 4, compositions: 60 });
    assert.equal(found.difference, null);
    assert.ok(found.pairs >= 200, `only ${found.pairs} pairs were compared`);
  });
});
