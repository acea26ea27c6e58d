import type { GraphBuilder, Value } from "../file/graph-builder.ts";
import { hadamard, quantizeWeights, rotateRows, rotationBlock } from "./quantized-weights.ts";

/**
 * How a graph multiplies by its weights: in float32, or in int8 with signed or unsigned weights.
 *
 * Signed weights are faster if the processor has VNNI or AMX. Without these, the kernels add neighbouring products in
 * 16 bits (VPMADDUBSW), which saturate silently. Unsigned weights are exact on every processor. Both give the same
 * numbers. The choice depends on the machine: see src/backends/onnx/runtime/exact-kernel.ts.
 */
export type Multiplication = "fp32" | "u8s8" | "u8u8";
/** The two forms of int8. */
export type ByteMultiplication = Exclude<Multiplication, "fp32">;

/** x W' + b */
export interface Linear {
  readonly weight: Float32Array; // [outputs, inputs]
  readonly bias: Float32Array; // [outputs]
}

/** [rows, inputs] -> [rows, outputs] in float32 */
export function linear(graph: GraphBuilder, { weight, bias }: Linear, x: Value): Value {
  const outputs = bias.length;
  const weights = graph.constant("float32", [outputs, weight.length / outputs], weight);
  return graph.node("Gemm", [x, weights, graph.constant("float32", [outputs], bias)], { transB: 1 });
}

/** `map` with its outputs rotated in blocks of `block`. */
export function rotateOutputs({ weight, bias }: Linear, block: number): Linear {
  return { weight: rotateRows(weight, block, weight.length / bias.length), bias: rotateRows(bias, block, 1) };
}

/** Activations as bytes around `ZERO_POINT`. */
export interface QuantizedRows {
  readonly values: Value; // uint8 [rows, inputs]
  /** Quantization step: one number, or one per row, [rows, 1]. */
  readonly step: number | Value;
}

/** The same with one step per row. */
export interface RowSteps extends QuantizedRows {
  readonly step: Value;
}

const ZERO_POINT = 128;
/** Number of steps on either side of zero. */
const STEPS = 127;
/**
 * Half the range of a normalized row, in standard deviations. Values beyond it are clipped. Measured with Twig-22M:
 * with 5, 0.60 % of the decisions differ from float32.
 */
const NORMALISED_RANGE = 5;

/** Rotates each row in blocks, see `quantizeWeights`. [rows, size] -> the same */
export function rotated(graph: GraphBuilder, x: Value, size: number): Value {
  const block = rotationBlock(size);
  const matrix = graph.constant("float32", [block, block], hadamard(block));
  const blocks = graph.node("Reshape", [x, graph.integers(-1, block)]);
  return graph.node("Reshape", [graph.node("MatMul", [blocks, matrix]), graph.integers(-1, size)]);
}

/**
 * Rounds normalized rows. Their standard deviation is 1, so one step serves all rows, and no row depends on another.
 */
export function quantizeNormalised(graph: GraphBuilder, x: Value): QuantizedRows {
  const step = NORMALISED_RANGE / STEPS;
  return { values: graph.node("QuantizeLinear", [x, graph.floats([], step), zeroPoint(graph)]), step };
}

const zeroPoint = (graph: GraphBuilder) => graph.constant("uint8", [], Uint8Array.of(ZERO_POINT));

/**
 * Rounds each row with a step from its own largest magnitude.
 *
 * @param zeroPoints uint8 [rows], each `ZERO_POINT`
 */
export function quantizeRows(graph: GraphBuilder, x: Value, zeroPoints: Value): RowSteps {
  return quantizeBySteps(graph, x, ownSteps(graph, x), zeroPoints);
}

/** The same in 16 bits, as the sum of two 8-bit values. The rounding error is negligible. */
export function quantizeRowsFinely(
  graph: GraphBuilder,
  x: Value,
  zeroPoints: Value,
): readonly [RowSteps, RowSteps] {
  const steps = ownSteps(graph, x);
  const coarse = quantizeBySteps(graph, x, steps, zeroPoints);
  const back = graph.node("DequantizeLinear", [coarse.values, steps, zeroPoints], { axis: 0 });
  const fineSteps = graph.node("Mul", [steps, graph.floats([1], 1 / (2 * STEPS))]);
  return [coarse, quantizeBySteps(graph, graph.node("Sub", [x, back]), fineSteps, zeroPoints)];
}

/**
 * Quantization step of each row. It is 0 for a row of zeros, whose bytes are then undefined. [rows, inputs] -> [rows]
 */
function ownSteps(graph: GraphBuilder, x: Value): Value {
  const largest = graph.node("ReduceMax", [graph.node("Abs", [x]), graph.integers(1)], { keepdims: 0 });
  return graph.node("Mul", [largest, graph.floats([1], 1 / STEPS)]);
}

/** @param steps [rows] */
function quantizeBySteps(graph: GraphBuilder, x: Value, steps: Value, zeroPoints: Value): RowSteps {
  return {
    values: graph.node("QuantizeLinear", [x, steps, zeroPoints], { axis: 0 }),
    step: graph.node("Unsqueeze", [steps, graph.integers(1)]),
  };
}

/** @param rows any tensor with as many rows. @returns uint8 [rows] for `quantizeRows` */
export function zeroPointsLike(graph: GraphBuilder, rows: Value): Value {
  const count = graph.node("Shape", [rows], { start: 0, end: 1 });
  return graph.node("Expand", [graph.constant("uint8", [1], Uint8Array.of(ZERO_POINT)), count]);
}

/** A layer's weights in the graph's form. */
export interface Int8Map {
  readonly values: Value; // [inputs, outputs]
  readonly scales: Value; // float32 [outputs]
  readonly zero: Value; // of the values' type; "" for 0
}

/** @param block block size of the inputs' rotation */
export function int8Map(
  graph: GraphBuilder,
  { weight, bias }: Linear,
  block: number,
  form: ByteMultiplication,
): Int8Map {
  const outputs = bias.length;
  const { values, scales } = quantizeWeights(weight, outputs, block);
  const shape = [weight.length / outputs, outputs];
  const isSigned = form === "u8s8";
  return {
    values: isSigned
      ? graph.constant("int8", shape, values)
      : graph.constant(
          "uint8",
          shape,
          new Uint8Array(values).map((byte) => byte ^ ZERO_POINT), // adds it
        ),
    scales: graph.constant("float32", [outputs], scales),
    zero: isSigned ? "" : zeroPoint(graph),
  };
}

/**
 * [rows, inputs] -> [rows, outputs], multiplied as integers, so sums are exact in any order.
 *
 * @param bias only for rows with one step
 */
export function multiply(
  graph: GraphBuilder,
  map: Int8Map,
  { values, step }: QuantizedRows,
  bias?: Value,
): Value {
  const isOneStep = typeof step === "number";
  const factor = graph.floats([], isOneStep ? step : 1);
  const inputs = [
    values,
    map.values,
    factor,
    map.scales,
    zeroPoint(graph),
    map.zero,
    ...(bias ? [bias] : []),
  ];
  const product = graph.contrib("MatMulIntegerToFloat", inputs);
  return isOneStep ? product : graph.node("Mul", [product, step]);
}
