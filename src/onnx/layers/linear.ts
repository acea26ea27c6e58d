import type { GraphBuilder, Value } from "../file/graph-builder.ts";
import { hadamard, quantizeWeights, rotateRows, rotationBlock } from "./quantized-weights.ts";

/**
 * How a graph multiplies by its weights: float32, or bytes by signed or by unsigned bytes.
 *
 * The signed form is the fast one where the processor has VNNI or AMX. Without, its kernels add the products of neighbouring
 * inputs in 16 bits (VPMADDUBSW), which saturate without a word; the unsigned form is exact everywhere. Both
 * give the same numbers: which one to take is a matter of the machine, see src/backends/onnx/runtime/exact-kernel.ts.
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

/** The map whose outputs are those of `map`, each run of `block` of them rotated. */
export function rotateOutputs({ weight, bias }: Linear, block: number): Linear {
  return { weight: rotateRows(weight, block, weight.length / bias.length), bias: rotateRows(bias, block, 1) };
}

/** Activations as bytes around `ZERO_POINT`. */
export interface QuantizedRows {
  readonly values: Value; // uint8 [rows, inputs]
  /** What one step of the values stands for: one number, or one for each row, [rows, 1]. */
  readonly step: number | Value;
}

/** The same with a step for each row. */
export interface RowSteps extends QuantizedRows {
  readonly step: Value;
}

const ZERO_POINT = 128;
/** Steps on either side of zero. */
const STEPS = 127;
/**
 * Half the range of a normalised row, in its own standard deviations; what stands out further is cut off. Measured with the
 * embedded model: a step for 5 gives 0.60 % other choices than float32.
 */
const NORMALISED_RANGE = 5;

/** Mixes each row's neighbouring numbers, see `quantizeWeights`. [rows, size] -> the same */
export function rotated(graph: GraphBuilder, x: Value, size: number): Value {
  const block = rotationBlock(size);
  const matrix = graph.constant("float32", [block, block], hadamard(block));
  const blocks = graph.node("Reshape", [x, graph.integers(-1, block)]);
  return graph.node("Reshape", [graph.node("MatMul", [blocks, matrix]), graph.integers(-1, size)]);
}

/**
 * Rounds rows that a layer normalisation has divided by their spread: that was each row's scale, so one step does for
 * all of them, and no row depends on another.
 */
export function quantizeNormalised(graph: GraphBuilder, x: Value): QuantizedRows {
  const step = NORMALISED_RANGE / STEPS;
  return { values: graph.node("QuantizeLinear", [x, graph.floats([], step), zeroPoint(graph)]), step };
}

const zeroPoint = (graph: GraphBuilder) => graph.constant("uint8", [], Uint8Array.of(ZERO_POINT));

/**
 * Rounds each row by its own largest magnitude.
 *
 * @param zeroPoints uint8 [rows], each `ZERO_POINT`
 */
export function quantizeRows(graph: GraphBuilder, x: Value, zeroPoints: Value): RowSteps {
  return quantizeBySteps(graph, x, ownSteps(graph, x), zeroPoints);
}

/** The same in two bytes: their sum stands for the rows, with an error too small to matter. */
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

/** What one step of each row stands for: 0 for a row of zeros, whose bytes are then whatever 0 / 0 gives. [rows, inputs] -> [rows] */
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

/** The weights of a map as the graph holds them. */
export interface Int8Map {
  readonly values: Value; // [inputs, outputs]
  readonly scales: Value; // float32 [outputs]
  readonly zero: Value; // of the values' type; "" for 0
}

/** @param block of the rotation that the inputs will have */
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
          Uint8Array.from(values, (value) => value + ZERO_POINT),
        ),
    scales: graph.constant("float32", [outputs], scales),
    zero: isSigned ? "" : zeroPoint(graph),
  };
}

/**
 * [rows, inputs] -> [rows, outputs], multiplied as integers: exact sums whatever their order.
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
