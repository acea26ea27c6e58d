import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { ModelRunner } from "../../src/backends/onnx/forwards/model-runner.ts";
import { bitsOf } from "../support/bits.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";
import { shallowGraph, shallowShape } from "./shallow-model.ts";

const random = seededRandom(11);
const tokens = (count: number) => Int32Array.from({ length: count }, () => 1000 + random.below(28_000));

function tree(state: Int32Array, questions: number, candidates: number): TokenTree {
  const question = () => ({
    tokens: tokens(6),
    candidates: Array.from({ length: candidates }, () => tokens(8)),
  });
  return { state, questions: Array.from({ length: questions }, question) };
}

describe("several forests at once", () => {
  let load: () => Promise<ModelRunner>;
  before(async () => {
    const graph = await shallowGraph("u8u8");
    load = () => ModelRunner.load(graph, shallowShape, { threads: 2, stateCacheBytes: 1 << 26 });
  });

  it("get the bits that they get one after another", async () => {
    const shared = tokens(90);
    const forests = [
      [tree(tokens(20), 1, 2)],
      [tree(tokens(20), 1, 3), tree(tokens(30), 2, 2), tree(tokens(10), 1, 2)],
      [tree(shared, 1, 2)],
      [tree(shared, 2, 2), tree(tokens(400), 1, 4)],
      Array.from({ length: 8 }, () => tree(tokens(25), 1, 2)),
      [tree(tokens(15), 1, 2)],
      [tree(tokens(600), 3, 8), tree(tokens(15), 1, 2)],
      [tree(tokens(15), 1, 2)],
    ];
    const inTurn: (readonly number[])[] = [];
    const one = await load();
    for (const forest of forests) inTurn.push(bitsOf((await one.score(leavesOfTrees(forest))).scores));
    const other = await load();
    for (let time = 0; time < 3; time++) {
      const atOnce = await Promise.all(forests.map((forest) => other.score(leavesOfTrees(forest))));
      assert.deepEqual(
        atOnce.map(({ scores }) => bitsOf(scores)),
        inTurn,
      );
    }
  });

  it("encode a state once that they share", async () => {
    const runner = await load();
    const state = tokens(90);
    await Promise.all([1, 2, 3].map((questions) => runner.score(leavesOfTrees([tree(state, questions, 2)]))));
    assert.deepEqual(runner.stateCounts, { hits: 2, misses: 1 });
  });

  it("do not fail with one of them", async () => {
    const runner = await load();
    const good = [tree(tokens(20), 1, 2), tree(tokens(20), 1, 2)];
    const bad = [tree(Int32Array.of(1, 2 ** 30, 3), 1, 2), tree(tokens(20), 1, 2)];
    const alone = bitsOf((await runner.score(leavesOfTrees(good))).scores);
    const [first, failed, last] = await Promise.allSettled(
      [good, bad, good].map((each) => runner.score(leavesOfTrees(each))),
    );
    assert.equal(failed?.status, "rejected");
    for (const result of [first, last]) {
      assert.ok(result?.status === "fulfilled");
      assert.deepEqual(bitsOf(result.value.scores), alone);
    }
  });
});
