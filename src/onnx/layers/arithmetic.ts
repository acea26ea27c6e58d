import type { GraphBuilder, Value } from "../file/graph-builder.ts";
import {
  type ByteMultiplication,
  int8Map,
  type Linear,
  linear,
  type Multiplication,
  multiply,
  quantizeNormalised,
  quantizeRows,
  rotated,
  zeroPointsLike,
} from "./linear.ts";
import { rotationBlock } from "./quantized-weights.ts";

/** Gain and bias of a layer normalization. */
export interface Norm {
  readonly gain: Float32Array; // [hidden]
  readonly bias: Float32Array; // [hidden]
}

/** Normalized rows in the form of an arithmetic, which knows the gain and bias still to be applied. */
export interface Rows {
  readonly input: Value; // [rows, hidden] input of linear layers
  readonly residual: Value; // [rows, hidden] input of the next residual sum
  readonly norm: Norm;
  readonly zeroPoints?: Value; // uint8 [rows] if rows are rounded
}

/** Arithmetic of an encoder's layers. Attention is always float32. */
export interface Arithmetic {
  /** Layer normalization of [rows, hidden]. */
  normalise(sum: Value, norm: Norm): Rows;
  /** A linear layer. @returns [rows, outputs] */
  read(rows: Rows, map: Linear): Value;
  /**
   * Layer normalization of `residual + map(x)`.
   *
   * @param x       [rows, inputs]
   * @param rotated block size of the rotation that `x` already has
   */
  add(rows: Rows, map: Linear, x: Value, norm: Norm, rotated?: number): Rows;
  /** Some of the rows. @param places int64 [some rows] */
  pick(rows: Rows, places: Value): Rows;
  /** Like `read`, always in float32, for the few rows that are scored. */
  readExactly(rows: Rows, map: Linear): Value;
  /** The rows with gain and bias applied, in float32: the same for every arithmetic, but for rounding. */
  plain(rows: Rows): Value;
  /** Block size of the rotation of `size` numbers; 1 without rotation. */
  rotationOf(size: number): number;
}

export function arithmetic(form: Multiplication, graph: GraphBuilder, epsilon: number): Arithmetic {
  return form === "fp32" ? floatArithmetic(graph, epsilon) : int8Arithmetic(graph, epsilon, form);
}

function floatArithmetic(graph: GraphBuilder, epsilon: number): Arithmetic {
  const normalise = (sum: Value, norm: Norm): Rows => {
    const gain = graph.constant("float32", [norm.gain.length], norm.gain);
    const bias = graph.constant("float32", [norm.bias.length], norm.bias);
    const attributes = { axis: -1, epsilon: { float: epsilon } };
    const input = graph.node("LayerNormalization", [sum, gain, bias], attributes);
    return { input, residual: input, norm };
  };
  return {
    normalise,
    read: ({ input }, map) => linear(graph, map, input),
    add: ({ residual }, map, x, norm) =>
      normalise(graph.node("Add", [residual, linear(graph, map, x)]), norm),
    pick: (rows, places) => ({
      ...rows,
      input: graph.node("Gather", [rows.input, places]),
      residual: graph.node("Gather", [rows.residual, places]),
    }),
    readExactly: ({ input }, map) => linear(graph, map, input),
    plain: ({ input }) => input,
    rotationOf: () => 1,
  };
}

/**
 * Rows are stored normalized, before gain and bias, and are rounded in this form. Gain and bias are folded into the
 * weights that read them, and for the residual into one product and the next bias.
 */
function int8Arithmetic(graph: GraphBuilder, epsilon: number, form: ByteMultiplication): Arithmetic {
  const attributes = { epsilon: { float: epsilon } };
  const ones = (size: number) => graph.constant("float32", [size], new Float32Array(size).fill(1));
  const zeros = (size: number) => graph.constant("float32", [size], new Float32Array(size));
  const normalised = (sum: Value, norm: Norm, zeroPoints: Value) => {
    const size = norm.gain.length;
    const parameters = [sum, ones(size), zeros(size)];
    const input = graph.node("LayerNormalization", parameters, { axis: -1, ...attributes });
    const gain = graph.constant("float32", [size], norm.gain);
    return { input, residual: graph.node("Mul", [input, gain]), norm, zeroPoints };
  };
  return {
    normalise: (sum, norm) => normalised(sum, norm, zeroPointsLike(graph, sum)),
    read({ input, norm }, stored) {
      const size = norm.gain.length;
      const linear = afterNorm(stored, norm);
      const map = int8Map(graph, linear, rotationBlock(size), form);
      const bias = graph.constant("float32", [linear.bias.length], linear.bias);
      return multiply(graph, map, quantizeNormalised(graph, rotated(graph, input, size)), bias);
    },
    add({ residual, norm: before, zeroPoints = zeroPointsLike(graph, residual) }, linear, x, norm, block) {
      const outputs = linear.bias.length;
      const size = linear.weight.length / outputs;
      const turned = block ? x : rotated(graph, x, size);
      const rows = quantizeRows(graph, turned, zeroPoints);
      const product = multiply(graph, int8Map(graph, linear, block ?? rotationBlock(size), form), rows);
      const bias = graph.constant("float32", [outputs], sumOf(linear.bias, before.bias));
      const sum = graph.node("Add", [graph.node("Add", [product, residual]), bias]);
      return normalised(sum, norm, zeroPoints);
    },
    pick({ input, residual, norm }, places) {
      const picked = graph.node("Gather", [input, places]);
      return {
        input: picked,
        residual: graph.node("Gather", [residual, places]),
        norm,
        zeroPoints: zeroPointsLike(graph, picked),
      };
    },
    readExactly: ({ input, norm }, map) => linear(graph, afterNorm(map, norm), input),
    plain: ({ residual, norm }) =>
      graph.node("Add", [residual, graph.constant("float32", [norm.bias.length], norm.bias)]),
    rotationOf: rotationBlock,
  };
}

/** `map` with gain and bias folded in, for rows without them. */
function afterNorm({ weight, bias }: Linear, { gain, bias: shift }: Norm): Linear {
  const inputs = gain.length;
  const scaled = new Float32Array(weight.length);
  const moved = bias.slice();
  for (let n = 0, at = 0; n < bias.length; n++) {
    let sum = 0;
    for (let k = 0; k < inputs; k++, at++) {
      const w = weight[at] as number; // in range: [outputs, inputs]
      scaled[at] = w * (gain[k] as number);
      sum += w * (shift[k] as number);
    }
    moved[n] = (bias[n] as number) + sum;
  }
  return { weight: scaled, bias: moved };
}

const sumOf = (a: Float32Array, b: Float32Array) => a.map((x, i) => x + (b[i] as number));
