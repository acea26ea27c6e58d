import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { arithmeticOf, sumOf } from "../../bench/engine/arithmetic.ts";
import { operatorTimes } from "../../bench/engine/process/operator-time.ts";
import { idealMs } from "../../bench/engine/roof.ts";

describe("useful arithmetic", () => {
  const shape = { vocab: 9, hidden: 4, heads: 2, inner: 8, layers: 2, positions: 9, layerNormEpsilon: 1e-12 };
  const tokens = (count: number) => new Int32Array(count);

  it("is counted node by node and key by key", () => {
    const tree = { state: tokens(3), questions: [{ tokens: tokens(2), candidates: [tokens(1), tokens(4)] }] };
    const { computedTokens, jointTokens, linear, attention } = arithmeticOf(tree, shape);
    assert.equal(computedTokens, 3 + 2 + 1 + 4);
    assert.equal(jointTokens, 3 + 2 + 1 + (3 + 2 + 4));
    // a whole layer: 4 h² + 2 h i for each token; the last: keys and values of each token, all else of two scored ones
    assert.equal(linear, 10 * (4 * 16 + 2 * 32) + 10 * 2 * 16 + 2 * (2 * 16 + 2 * 32) + 2 * (16 + 4));
    // state 3 tokens see 3, question 2 see 5, candidates 1 sees 6 and 4 see 9; of the last layer one token each
    assert.equal(attention, 2 * 4 * (3 * 3 + 2 * 5 + 1 * 6 + 4 * 9 + (6 + 9)));
  });

  it("adds up, and takes its time at the rates of its precisions", () => {
    const tree = { state: tokens(3), questions: [{ tokens: tokens(2), candidates: [tokens(1)] }] };
    const one = arithmeticOf(tree, shape);
    const two = sumOf([one, one]);
    assert.equal(two.linear, 2 * one.linear);
    const rates = { fp32: 1000, int8: 4000 };
    assert.equal(idealMs(one, "fp32", rates), one.linear + one.attention);
    assert.equal(idealMs(one, "int8", rates), one.linear / 4 + one.attention);
  });
});

describe("a profile", () => {
  const shape = { vocab: 9, hidden: 4, heads: 2, inner: 8, layers: 2, positions: 9, layerNormEpsilon: 1e-12 };
  let now = 0;
  /** An event that begins when the one before it ends. */
  const event = (op_name: string, dur: number, inputs: number[][], outputs: number[][], type = "float") => {
    now += dur;
    return {
      cat: "Node",
      name: `${op_name}_1_kernel_time`,
      ts: now - dur,
      dur,
      args: {
        op_name,
        input_type_shape: inputs.map((sizes) => ({ [type]: sizes })),
        output_type_shape: outputs.map((sizes) => ({ [type]: sizes })),
      },
    };
  };

  it("sums kernels by operator and part of a layer", () => {
    const trace = [
      { cat: "Session", name: "model_run", dur: 99_000 },
      event("Gemm", 4000, [[5, 4]], [[5, 12]]),
      event("Gemm", 2000, [[5, 4]], [[5, 12]]),
      event("Gemm", 1000, [[5, 4]], [[5, 4]]),
      event("Gemm", 1000, [[5, 4]], [[5, 8]]),
      event("MatMul", 500, [[2, 5, 2]], [[2, 5, 5]]),
      event("Equal", 500, [[5, 1]], [[5, 5]], "int32"),
      event("LayerNormalization", 1000, [[5, 4]], [[5, 4]]),
    ];
    const times = operatorTimes(trace, 2, shape);
    assert.deepEqual(times[0], {
      operator: "Gemm",
      part: "projections",
      share: 0.6,
      milliseconds: 3,
      calls: 1,
    });
    assert.deepEqual(
      times.slice(1).map(({ operator, part }) => `${operator}: ${part}`),
      [
        "Gemm: attention output, head",
        "Gemm: feed-forward",
        "LayerNormalization: normalisation",
        "MatMul: attention",
        "Equal: masks",
      ],
    );
    assert.ok(Math.abs(times.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-12);
  });

  it("does not count twice what runs inside a loop or a branch", () => {
    const [gemm, gelu, after] = [
      event("Gemm", 3000, [[5, 4]], [[5, 8]]),
      event("Gelu", 2000, [[5, 8]], [[5, 8]]),
      event("Add", 4000, [[5, 4]], [[5, 4]]),
    ];
    const loop = { ...event("Loop", 0, [[5, 4]], [[5, 4]]), ts: gemm.ts, dur: 5500 };
    const branch = { ...event("If", 0, [[5, 4]], [[5, 4]]), ts: gemm.ts, dur: 5700 };
    const later = { ...after, ts: gemm.ts + 6000 };
    const times = operatorTimes([gemm, gelu, loop, branch, later], 1, shape);
    const found = times.map(({ operator, milliseconds }) => `${operator} ${milliseconds}`);
    assert.deepEqual(found, ["Add 4", "Gemm 3", "Gelu 2", "Loop 0.5", "If 0.2"]);
  });
});
