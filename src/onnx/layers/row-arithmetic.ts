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

/** Rows as linear maps read them; several maps may read the same. */
export type Operand = Value | readonly RowSteps[];

/** How linear maps without bias are computed where nothing is known of the rows before they are there. */
export interface RowArithmetic {
  /**
   * @param x      [rows, size]
   * @param finely where rounding hurts most
   */
  prepare(x: Value, size: number, finely?: "finely"): Operand;
  /** The same for rows of which runs of `rotationOf(..)` numbers are rotated already. */
  prepareRotated(x: Value): Operand;
  /**
   * @param weight   [outputs, inputs]
   * @param rotation numbers that were rotated together, where it is not that of the inputs
   * @returns        [rows, outputs]
   */
  multiply(x: Operand, weight: Float32Array, outputs: number, rotation?: number): Value;
  /**
   * The product of two maps of the same rows, one of them through a tanh GELU, as a third map reads it.
   *
   * @param x      [rows, inputs]
   * @returns      [rows, inputs]
   */
  feedForward(x: Value, weights: GatedWeights): Value;
  /** How many numbers of a run of `size` are rotated together; 1 where nothing is. */
  rotationOf(size: number): number;
}

/** Of a gated feed-forward. */
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
 * Each row is rounded by its own largest magnitude, measured in the graph: a causal model's rows have outliers for which no
 * constant step would do.
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
      // a row's step goes through the product and the rounding as it is: it is put on the shorter rows behind them
      const counted = multiply(graph, map(up, inner), { values: rows.values, step: 1 });
      const gated = rotated(graph, graph.node("Mul", [gates, counted]), inner);
      const read = quantizeRows(graph, gated, zeroPoints);
      const step = graph.node("Mul", [rows.step, read.step]);
      return multiply(graph, map(down, outputs), { values: read.values, step });
    },
    rotationOf: rotationBlock,
  };
}
