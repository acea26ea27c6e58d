import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exactMultiplication } from "../../src/backends/onnx/runtime/exact-kernel.ts";
import { InferenceSession, Tensor } from "../../src/backends/onnx/runtime/runtime.ts";
import { GraphBuilder, type Value } from "../../src/onnx/file/graph-builder.ts";
import {
  type ByteMultiplication,
  int8Map,
  type Linear,
  multiply,
  quantizeNormalised,
  quantizeRows,
  quantizeRowsFinely,
  type RowSteps,
  rotated,
  zeroPointsLike,
} from "../../src/onnx/layers/linear.ts";
import { rotationBlock } from "../../src/onnx/layers/quantized-weights.ts";
import { bitsOf } from "../support/bits.ts";
import { seededRandom } from "../support/seeded-random.ts";

const [INPUTS, OUTPUTS, ROWS] = [384, 24, 9];
const random = seededRandom(5);
const map: Linear = {
  weight: Float32Array.from({ length: OUTPUTS * INPUTS }, () => normal() / Math.sqrt(INPUTS)),
  bias: Float32Array.from({ length: OUTPUTS }, normal),
};
/** Rows of spread 1, as a normalisation leaves them. */
const plain = Float32Array.from({ length: ROWS * INPUTS }, normal);
/** Rows of very different size, each with a few numbers that stand out. */
const uneven = plain.map((x, i) => x * 10 ** (Math.floor(i / INPUTS) - 4) * (i % 97 === 0 ? 20 : 1));

describe("a linear map in bytes", () => {
  for (const form of ["u8s8", "u8u8"] as const) {
    const byRows = (graph: GraphBuilder, x: Value) => {
      const turned = rotated(graph, x, INPUTS);
      const rows = quantizeRows(graph, turned, zeroPointsLike(graph, x));
      return multiply(graph, int8Map(graph, map, rotationBlock(INPUTS), form), rows);
    };

    it(`${form}: is close to the one in floats, row by row, whatever the rows' size and outliers`, async (t) => {
      if (!(await isExact(form))) return t.skip("saturates on this processor");
      const found = await run(byRows, uneven);
      for (let row = 0; row < ROWS; row++) assert.ok(relativeError(found, uneven, row) < 0.02);
    });

    it(`${form}: gives a row the same bits alone and among others`, async () => {
      const together = bitsOf(await run(byRows, uneven));
      for (let row = 0; row < ROWS; row++) {
        const alone = await run(byRows, uneven.slice(row * INPUTS, (row + 1) * INPUTS));
        assert.deepEqual(bitsOf(alone), together.slice(row * OUTPUTS, (row + 1) * OUTPUTS));
      }
    });
  }

  for (const form of ["u8s8", "u8u8"] as const) {
    it(`${form}: gives zeros for a row of zeros, and for one whose step is too small for a number, beside others`, async () => {
      const rows = plain.map((x, i) => x * ([0, 1e-40, 1][Math.floor(i / INPUTS) % 3] ?? 0));
      const found = await run((graph, x) => {
        const matrix = int8Map(graph, map, 1, form);
        const zeroPoints = zeroPointsLike(graph, x);
        return [quantizeRows(graph, x, zeroPoints), ...quantizeRowsFinely(graph, x, zeroPoints)]
          .map((rounded) => multiply(graph, matrix, rounded))
          .reduce((sum, part) => graph.node("Add", [sum, part]));
      }, rows);
      for (let row = 0; row < ROWS; row++) {
        const numbers = found.slice(row * OUTPUTS, (row + 1) * OUTPUTS);
        if (row % 3 < 2) assert.ok(numbers.every((x) => Math.abs(x) < 1e-35));
        else assert.ok(numbers.every((x) => Number.isFinite(x) && x !== 0));
      }
    });
  }

  it("is far closer with two bytes a number than with one", async () => {
    const block = rotationBlock(INPUTS);
    const read = (round: (graph: GraphBuilder, x: Value) => readonly RowSteps[]) =>
      run((graph, x) => {
        const matrix = int8Map(graph, map, block, "u8u8");
        const products = round(graph, rotated(graph, x, INPUTS)).map((rows) => multiply(graph, matrix, rows));
        const bias = graph.constant("float32", [OUTPUTS], map.bias);
        return [...products, bias].reduce((sum, part) => graph.node("Add", [sum, part]));
      }, plain);
    const coarse = await read((graph, x) => [quantizeRows(graph, x, zeroPointsLike(graph, x))]);
    const fine = await read((graph, x) => quantizeRowsFinely(graph, x, zeroPointsLike(graph, x)));
    // the weights are rounded in both: what is compared is the rounding of the rows alone
    const exact = await run((graph, x) => dequantized(graph, rotated(graph, x, INPUTS), block), plain);
    const [coarseError, fineError] = [coarse, fine].map((found) => largestDifference(found, exact));
    assert.ok(Number(coarseError) < 0.2 && Number(coarseError) > 1e-3, `${coarseError}`);
    assert.ok(Number(fineError) < Number(coarseError) / 20, `${fineError} after ${coarseError}`);
  });

  it("takes rows that a normalisation has left with one step for all", async () => {
    const found = await run((graph, x) => {
      const rows = quantizeNormalised(graph, rotated(graph, x, INPUTS));
      const bias = graph.constant("float32", [OUTPUTS], map.bias);
      return multiply(graph, int8Map(graph, map, rotationBlock(INPUTS), "u8u8"), rows, bias);
    }, plain);
    for (let row = 0; row < ROWS; row++) assert.ok(relativeError(found, plain, row, map.bias) < 0.03);
  });
});

describe("the exact multiplication of this processor", () => {
  it("gives the sums that integers give, for bytes at the ends of their range", async () => {
    const form = await exactMultiplication();
    const extreme = (numbers: readonly number[]) => numbers[random.below(numbers.length)] ?? 0;
    for (const rows of [1, 2, 7, 64]) {
      const x = Uint8Array.from({ length: rows * INPUTS }, () => extreme([0, 1, 127, 128, 254, 255]));
      const w = Int8Array.from({ length: INPUTS * OUTPUTS }, () =>
        extreme([-127, -126, -64, 0, 64, 126, 127]),
      );
      assert.deepEqual(await byteProduct(form, x, w), integerProduct(x, w), `${form}, ${rows} rows`);
    }
  });
});

async function run(write: (graph: GraphBuilder, x: Value) => Value, x: Float32Array): Promise<Float32Array> {
  const graph = new GraphBuilder();
  const result = write(graph, graph.input("x", "float32", ["rows", INPUTS]));
  graph.output(result, "float32", ["rows", OUTPUTS]);
  return runGraph(graph, result, new Tensor("float32", x, [x.length / INPUTS, INPUTS]));
}

async function runGraph(graph: GraphBuilder, result: Value, x: Tensor): Promise<Float32Array> {
  const session = await InferenceSession.create(graph.build("test"), { intraOpNumThreads: 1 });
  try {
    const { [result]: found } = await session.run({ x });
    assert.ok(found?.data instanceof Float32Array);
    return found.data.slice();
  } finally {
    await session.release();
  }
}

/** The map with its rounded weights, in floats. */
function dequantized(graph: GraphBuilder, x: Value, block: number): Value {
  const { values, scales, zero } = int8Map(graph, map, block, "u8u8");
  const centred = graph.node("Sub", [
    graph.node("Cast", [values], { to: 1 }),
    graph.node("Cast", [zero], { to: 1 }),
  ]);
  const product = graph.node("MatMul", [x, graph.node("Mul", [centred, scales])]);
  return graph.node("Add", [product, graph.constant("float32", [OUTPUTS], map.bias)]);
}

async function byteProduct(form: ByteMultiplication, x: Uint8Array, w: Int8Array): Promise<number[]> {
  const graph = new GraphBuilder();
  graph.input("x", "uint8", ["rows", INPUTS]);
  const isSigned = form === "u8s8";
  const one = graph.floats([], 1);
  const weights = isSigned
    ? graph.constant("int8", [INPUTS, OUTPUTS], w)
    : graph.constant(
        "uint8",
        [INPUTS, OUTPUTS],
        Uint8Array.from(w, (value) => value + 128),
      );
  const zero = graph.constant("uint8", [], Uint8Array.of(128));
  const result = graph.contrib("MatMulIntegerToFloat", ["x", weights, one, one, zero, isSigned ? "" : zero]);
  graph.output(result, "float32", ["rows", OUTPUTS]);
  return [...(await runGraph(graph, result, new Tensor("uint8", x, [x.length / INPUTS, INPUTS])))];
}

/** Below 2^24, so that float32 holds every sum: 384 * 128 * 127 is 6.2 million. */
function integerProduct(x: Uint8Array, w: Int8Array): number[] {
  return Array.from({ length: (x.length / INPUTS) * OUTPUTS }, (_, i) => {
    const begin = Math.floor(i / OUTPUTS) * INPUTS;
    let sum = 0;
    for (let k = 0; k < INPUTS; k++) {
      sum += ((x[begin + k] ?? Number.NaN) - 128) * (w[k * OUTPUTS + (i % OUTPUTS)] ?? Number.NaN);
    }
    return sum;
  });
}

async function isExact(form: ByteMultiplication): Promise<boolean> {
  return form === "u8u8" || (await exactMultiplication()) === form;
}

/** Length of a row's error by the length of the row's exact result. */
function relativeError(
  found: Float32Array,
  x: Float32Array,
  row: number,
  bias: Float32Array = new Float32Array(OUTPUTS),
): number {
  let [errors, squares] = [0, 0];
  for (let n = 0; n < OUTPUTS; n++) {
    let wanted = bias[n] ?? Number.NaN;
    for (let k = 0; k < INPUTS; k++)
      wanted += (x[row * INPUTS + k] ?? Number.NaN) * (map.weight[n * INPUTS + k] ?? Number.NaN);
    errors += ((found[row * OUTPUTS + n] ?? Number.NaN) - wanted) ** 2;
    squares += wanted ** 2;
  }
  return Math.sqrt(errors / squares);
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  return a.reduce((most, x, i) => Math.max(most, Math.abs(x - (b[i] ?? Number.NaN))), 0);
}

/** A number of the standard normal distribution, by Box and Muller. */
function normal(): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
