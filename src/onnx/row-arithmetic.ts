import type { GraphBuilder, Value } from "./graph-builder.ts";
import {
  type ByteMultiplication,
  int8Map,
  type Multiplication,
  multiply,
  type QuantizedRows,
  quantizeRows,
  quantizeRowsFinely,
  rotated,
  zeroPointsLike,
} from "./linear.ts";
import { rotationBlock } from "./quantized-weights.ts";

/** Rows as linear maps read them; several maps may read the same. */
export type Operand = Value | readonly QuantizedRows[];

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
  /** How many numbers of a run of `size` are rotated together; 1 where nothing is. */
  rotationOf(size: number): number;
}

export function rowArithmetic(graph: GraphBuilder, form: Multiplication): RowArithmetic {
  return form === "fp32" ? floatArithmetic(graph) : int8Arithmetic(graph, form);
}

function floatArithmetic(graph: GraphBuilder): RowArithmetic {
  return {
    prepare: (x) => x,
    prepareRotated: (x) => x,
    multiply(x, weight, outputs) {
      if (typeof x !== "string") throw new TypeError("these rows were prepared by another arithmetic");
      const weights = graph.constant("float32", [outputs, weight.length / outputs], weight);
      return graph.node("Gemm", [x, weights], { transB: 1 });
    },
    rotationOf: () => 1,
  };
}

/**
 * Each row is rounded by its own largest magnitude, measured in the graph: a causal model's rows have outliers for which no
 * constant step would do.
 */
function int8Arithmetic(graph: GraphBuilder, form: ByteMultiplication): RowArithmetic {
  return {
    prepare(x, size, finely) {
      const turned = rotated(graph, x, size);
      const zeroPoints = zeroPointsLike(graph, x);
      return finely
        ? quantizeRowsFinely(graph, turned, zeroPoints)
        : [quantizeRows(graph, turned, zeroPoints)];
    },
    prepareRotated: (x) => [quantizeRows(graph, x, zeroPointsLike(graph, x))],
    multiply(x, weight, outputs, rotation = rotationBlock(weight.length / outputs)) {
      if (typeof x === "string") throw new TypeError("these rows were prepared by another arithmetic");
      const map = int8Map(graph, { weight, bias: new Float32Array(outputs) }, rotation, form);
      return x
        .map((rows) => multiply(graph, map, rows))
        .reduce((sum, product) => graph.node("Add", [sum, product]));
    },
    rotationOf: rotationBlock,
  };
}
