import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ForwardRunner } from "../../src/backends/onnx/forwards/forward-runner.ts";
import type { Forward } from "../../src/backends/tensors/forward.ts";
import { treeModel } from "../../src/backends/tensors/tree-model.ts";
import type { Node } from "../../src/inference/nodes.ts";
import { bitsOf } from "../support/bits.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { shallowGraph, shallowShape } from "./shallow-model.ts";

const random = seededRandom(11);
const node = (level: Node["level"], count: number, above: readonly Node[]): Node => ({
  level,
  tokens: Int32Array.from({ length: count }, () => 1000 + random.below(28_000)),
  key: "",
  parent: above.at(-1),
});

/** A short state with a question and candidates, all of them new: `tokens` in all. */
function smallForward(tokens: number, candidates: number): { forward: Forward; question: Node } {
  const state = node(0, 2, []);
  const question = node(1, tokens - 2 - 2 * candidates, [state]);
  const ends = Array.from({ length: candidates }, () => node(2, 2, [state, question]));
  const newRest = [state, question, ...ends];
  return { forward: { pastPrefix: [], pastRest: [], newPrefix: [], newRest }, question };
}

describe("a small forward", () => {
  for (const form of ["fp32", "u8u8"] as const) {
    it(`${form}: gives the bits that it gives where keys and values are wanted, which takes the way of large ones`, async () => {
      const graph = await shallowGraph(form);
      for (const threads of [1, 2]) {
        const runner = await ForwardRunner.load(graph, treeModel(shallowShape, threads), threads);
        for (const tokens of [10, 15, 16, 17, 45, 126, 127, 128, 129, 254, 255, 256, 257, 380]) {
          const { forward, question } = smallForward(tokens, 1 + random.below(3));
          const alone = await runner.run({ forward, wanted: [] }, new Map());
          const kept = await runner.run({ forward, wanted: [question] }, new Map());
          assert.deepEqual(bitsOf(alone.scores), bitsOf(kept.scores), `${tokens} tokens`);
          assert.equal(alone.keyValues.length, 0);
          assert.equal(kept.keyValues[0]?.tokens, question.tokens.length);
        }
      }
    });
  }
});
