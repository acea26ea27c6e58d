import type { GraphBuilder, Value } from "../file/graph-builder.ts";
import {
  type ByteMultiplication,
  int8Map,
  type Multiplication,
  multiply,
  quantizeRows,
  quantizeRowsFinely,
  type RowSteps,
  rotated,
  zeroPointsLike,
} from "./linear.ts";
import { rotationBlock } from "./quantized-weights.ts";

/** Rows prepared for linear layers. Several layers may share them. */
export type Operand = Value | readonly RowSteps[];

/** Arithmetic of linear layers without bias, for rows whose range is unknown in advance. */
export interface RowArithmetic {
  /**
   * @param x      [rows, size]
   * @param finely whether to use 16 bits
   */
  prepare(x: Value, size: number, finely?: "finely"): Operand;
  /** The same for rows that are already rotated in blocks of `rotationOf(..)`. */
  prepareRotated(x: Value): Operand;
  /**
   * @param weight   [outputs, inputs]
   * @param rotation block size of the rotation, if it differs from that of the inputs
   * @returns        [rows, outputs]
   */
  multiply(x: Operand, weight: Float32Array, outputs: number, rotation?: number): Value;
  /**
   * The product of two layers of the same rows, one of them through a tanh GELU, prepared for a third layer.
   *
   * @param x      [rows, inputs]
   * @returns      [rows, inputs]
   */
  feedForward(x: Value, weights: GatedWeights): Value;
  /** Block size of the rotation of `size` numbers; 1 without rotation. */
  rotationOf(size: number): number;
}

/** Weights of a gated feed-forward layer. */
export interface GatedWeights {
  readonly gate: Float32Array; // [inner, outputs]
  readonly up: Float32Array; // [inner, outputs]
  readonly down: Float32Array; // [outputs, inner]
  readonly outputs: number;
  readonly inner: number;
}

export function rowArithmetic(graph: GraphBuilder, form: Multiplication): RowArithmetic {
  return form === "fp32" ? floatArithmetic(graph) : int8Arithmetic(graph, form);
}

const throughGelu = (graph: GraphBuilder, x: Value) =>
  graph.node("Gelu", [x], { approximate: { text: "tanh" } });

function floatArithmetic(graph: GraphBuilder): RowArithmetic {
  const product = (x: Value, weight: Float32Array, outputs: number) => {
    const weights = graph.constant("float32", [outputs, weight.length / outputs], weight);
    return graph.node("Gemm", [x, weights], { transB: 1 });
  };
  return {
    prepare: (x) => x,
    prepareRotated: (x) => x,
    multiply(x, weight, outputs) {
      if (typeof x !== "string") throw new TypeError("these rows were prepared by another arithmetic");
      return product(x, weight, outputs);
    },
    feedForward(x, { gate, up, down, inner, outputs }) {
      const gated = graph.node("Mul", [throughGelu(graph, product(x, gate, inner)), product(x, up, inner)]);
      return product(gated, down, outputs);
    },
    rotationOf: () => 1,
  };
}

/**
 * Rounds each row with a step computed in the graph from its largest magnitude. A causal model's rows have outliers, so
 * a constant step would not work.
 */
function int8Arithmetic(graph: GraphBuilder, form: ByteMultiplication): RowArithmetic {
  const map = (weight: Float32Array, outputs: number, rotation = rotationBlock(weight.length / outputs)) =>
    int8Map(graph, { weight, bias: new Float32Array(outputs) }, rotation, form);
  return {
    prepare(x, size, finely) {
      const turned = rotated(graph, x, size);
      const zeroPoints = zeroPointsLike(graph, x);
      return finely
        ? quantizeRowsFinely(graph, turned, zeroPoints)
        : [quantizeRows(graph, turned, zeroPoints)];
    },
    prepareRotated: (x) => [quantizeRows(graph, x, zeroPointsLike(graph, x))],
    multiply(x, weight, outputs, rotation) {
      if (typeof x === "string") throw new TypeError("these rows were prepared by another arithmetic");
      const weights = map(weight, outputs, rotation);
      return x
        .map((rows) => multiply(graph, weights, rows))
        .reduce((sum, product) => graph.node("Add", [sum, product]));
    },
    feedForward(x, { gate, up, down, inner, outputs }) {
      const zeroPoints = zeroPointsLike(graph, x);
      const rows = quantizeRows(graph, rotated(graph, x, outputs), zeroPoints);
      const gates = throughGelu(graph, multiply(graph, map(gate, inner), rows));
      // a row's step is carried through product and rounding, and applied afterwards, where rows are shorter
      const counted = multiply(graph, map(up, inner), { values: rows.values, step: 1 });
      const gated = rotated(graph, graph.node("Mul", [gates, counted]), inner);
      const read = quantizeRows(graph, gated, zeroPoints);
      const step = graph.node("Mul", [rows.step, read.step]);
      return multiply(graph, map(down, outputs), { values: read.values, step });
    },
    rotationOf: rotationBlock,
  };
}
