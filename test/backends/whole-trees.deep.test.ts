import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tensorsOf } from "../../src/backends/onnx/forwards/forward-runner.ts";
import { ModelRunner } from "../../src/backends/onnx/forwards/model-runner.ts";
import { InferenceSession } from "../../src/backends/onnx/runtime/runtime.ts";
import { sessionOptions } from "../../src/backends/onnx/runtime/session-options.ts";
import { scoredNodes } from "../../src/backends/tensors/forward.ts";
import type { TreeShape } from "../../src/backends/tensors/tree-model.ts";
import { planWhole } from "../../src/backends/tensors/whole-forwards.ts";
import { wholeInputs } from "../../src/backends/tensors/whole-inputs.ts";
import { packageTensors } from "../../src/models/architectures/written-graph.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { buildWholeGemma3 } from "../../src/onnx/causal/gemma3-token-tree.ts";
import { buildWholeTree } from "../../src/onnx/encoder/bert-token-tree.ts";
import { bitsOf } from "../support/bits.ts";
import { embeddedModel } from "../support/package-root.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";
import { inVocabularyOf, REAL_HEADS, randomGraph, randomWeights, scoreWith } from "./random-gemma3.ts";
import { firstDifference, type Score } from "./same-bits.ts";
import { scorer, shallowGraph, shallowShape } from "./shallow-model.ts";

const digest = new Uint8Array(32).fill(7);

/** Lengths in tokens at the bounds of a plan: states kept from 64 on, questions long from 129 on, blocks of 128. */
const FORESTS = [
  [tree(9, [[6, [3, 2]]]), tree(40, [[60, [30, 31]]]), tree(63, [[20, [60, 61, 9]]])],
  [
    tree(64, [
      [6, [3, 40, 100, 2, 127]],
      [128, [9, 200]],
    ]),
    tree(300, [[9, [4, 130, 258]]]),
  ],
  [tree(500, [[11, Array.from({ length: 40 }, (_, at) => 10 + at)]])],
  [tree(20, [[129, [3, 64, 100]]])],
  [
    tree(400, [
      [260, [130, 40, 100, 2]],
      [5, [3, 4]],
    ]),
  ],
  [tree(700, [[130, [3]]]), tree(7, [[300, [3, 2]]])],
];

/** @param questions tokens of each, with those of its candidates */
function tree(state: number, questions: readonly [number, readonly number[]][]): TokenTree {
  let next = state;
  const token = () => {
    next += 7919;
    return 1000 + (next % 20_000);
  };
  const tokens = (length: number) => Int32Array.from({ length }, () => token());
  return {
    state: tokens(state),
    questions: questions.map(([question, candidates]) => ({
      tokens: tokens(question),
      candidates: candidates.map(tokens),
    })),
  };
}

for (const form of ["fp32", "u8u8"] as const) {
  describe(`a graph of whole trees in ${form}`, () => {
    it("gives the encoder's pairs the bits that they have with keys and values of earlier runs", async () => {
      const embedded = await openModelPackage(embeddedModel);
      const tensors = await packageTensors(embedded, "model.safetensors");
      const whole = await wholeScorer(buildWholeTree(shallowShape, tensors, form, digest), shallowShape);
      const local = await scorer(await shallowGraph(form), shallowShape, { threads: 1, stateCacheBytes: 0 });
      const found = await firstDifference(local, [whole], { seed: 3, compositions: 15 });
      assert.equal(found.difference, null);
      for (const forest of FORESTS)
        assert.deepEqual(bitsOf(await whole(forest)), bitsOf(await local(forest)));
    });
  });
}

describe("a graph of whole trees of a causal model", () => {
  it("gives pairs the bits that they have with keys and values of earlier runs; below long questions, all but the last ones", async () => {
    const graph = buildWholeGemma3(REAL_HEADS, randomWeights(3), "fp32", digest);
    const whole = inVocabularyOf(REAL_HEADS, await wholeScorer(graph, REAL_HEADS));
    const runner = await ModelRunner.load(randomGraph(REAL_HEADS, "fp32"), REAL_HEADS, {
      threads: 1,
      stateCacheBytes: 0,
    });
    const local = scoreWith(runner, REAL_HEADS);
    for (const forest of FORESTS) {
      const [found, wanted] = [await whole(forest), await local(forest)];
      if (forest.every(({ questions }) => questions.every(({ tokens }) => tokens.length <= 128)))
        assert.deepEqual(bitsOf(found), bitsOf(wanted));
      else for (const [at, score] of found.entries()) assert.ok(Math.abs(score - (wanted[at] ?? 0)) < 1e-5);
    }
  });
});

async function wholeScorer(graph: Uint8Array, shape: TreeShape): Promise<Score> {
  const session = await InferenceSession.create(graph, sessionOptions(1));
  return async (forest: readonly TokenTree[]) => {
    const { forwards, scored } = planWhole(leavesOfTrees(forest), 2);
    const scores = new Map<unknown, number>();
    for (const forward of forwards) {
      const results = await session.run(tensorsOf(wholeInputs(forward, shape)), ["scores", "digest"]);
      assert.deepEqual(results.digest?.data, digest);
      const data = results.scores?.data as Float32Array;
      for (const [at, node] of scoredNodes(forward).entries()) scores.set(node, data[at] ?? Number.NaN);
    }
    return Float32Array.from(scored, (node) => scores.get(node) ?? Number.NaN);
  };
}
