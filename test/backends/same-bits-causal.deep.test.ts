import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Gemma3Shape } from "../../src/onnx/causal/gemma3-io.ts";
import type { Multiplication } from "../../src/onnx/layers/linear.ts";
import { gemma3Scorer, OTHER_SHAPES, REAL_HEADS, randomGraph } from "./random-gemma3.ts";
import { type Found, firstDifference } from "./same-bits.ts";

const COMPOSITIONS = 460;
const FEWEST_PAIRS = 2000;
const ALL_STATES = 256 << 20;
/** A cache for some of the states, so that there are hits and misses. */
const SOME_STATES = 4 << 20;

describe("a pair of a causal model has the same bits alone and in any company", () => {
  for (const [seed, form] of (["fp32", "u8s8", "u8u8"] as const).entries()) {
    it(`${form}: from a cold and a warm cache, with one thread and with more`, async (t) => {
      const found = await search(REAL_HEADS, form, { seed, compositions: COMPOSITIONS });
      assert.equal(found.difference, null);
      t.diagnostic(`${found.compositions} compositions, ${found.pairs} pairs compared`);
      assert.ok(found.pairs >= FEWEST_PAIRS, `only ${found.pairs} pairs were compared`);
    });
  }

  for (const [name, shape] of Object.entries(OTHER_SHAPES)) {
    it(`${name}`, async () => {
      const found = await search(shape, "fp32", { seed: 5, compositions: 120 });
      assert.equal(found.difference, null);
      assert.ok(found.pairs >= 400, `only ${found.pairs} pairs were compared`);
    });
  }
});

async function search(
  shape: Gemma3Shape,
  form: Multiplication,
  what: { seed: number; compositions: number },
): Promise<Found> {
  const graph = randomGraph(shape, form);
  const load = (threads: number, stateCacheBytes: number) =>
    gemma3Scorer(graph, shape, { threads, stateCacheBytes });
  const alone = await load(1, 0);
  const company = [
    alone,
    await load(2, ALL_STATES),
    await load(1, SOME_STATES),
    await load(3, 0),
    await load(9, SOME_STATES), // more than there are heads
  ];
  return firstDifference(alone, company, what);
}
