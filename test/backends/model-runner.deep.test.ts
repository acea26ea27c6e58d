import assert from "node:assert/strict";
import { it } from "node:test";
import { ModelRunner } from "../../src/backends/onnx/forwards/model-runner.ts";
import { bitsOf } from "../support/bits.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";
import { fullGraph, fullShape } from "./shallow-model.ts";

it("the embedded model gives the same bits over several forwards from a state just encoded and from a kept one", async () => {
  const runner = await ModelRunner.load(await fullGraph("fp32"), fullShape, {
    threads: 2,
    stateCacheBytes: 64 << 20,
  });
  const tree = randomTree(seededRandom(3), {
    state: 900,
    question: 20,
    questions: 3,
    candidates: 30,
    candidate: 15,
  });
  const cold = await runner.score(leavesOfTrees([tree]));
  const warm = await runner.score(leavesOfTrees([tree]));
  assert.ok(cold.forwards > 1);
  assert.equal(warm.forwards, cold.forwards);
  assert.deepEqual(bitsOf(warm.scores), bitsOf(cold.scores));
});

interface Sizes {
  state: number;
  question: number;
  questions: number;
  candidates: number;
  candidate: number;
}
type Random = ReturnType<typeof seededRandom>;

function randomTree(random: Random, sizes: Sizes): TokenTree {
  const tokens = (length: number) => Int32Array.from({ length }, () => 1000 + random.below(28000));
  return {
    state: tokens(sizes.state),
    questions: Array.from({ length: sizes.questions }, () => ({
      tokens: tokens(sizes.question),
      candidates: Array.from({ length: sizes.candidates }, () =>
        tokens(1 + random.below(sizes.candidate) + 1),
      ),
    })),
  };
}
