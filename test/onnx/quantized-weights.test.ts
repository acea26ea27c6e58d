import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  hadamard,
  quantizeWeights,
  rotateRows,
  rotationBlock,
} from "../../src/onnx/layers/quantized-weights.ts";
import { seededRandom } from "../support/seeded-random.ts";

const random = seededRandom(11);
const floats = (length: number) => Float32Array.from({ length }, () => random.next() * 2 - 1);
const number = (numbers: ArrayLike<number>, at: number) => numbers[at] ?? Number.NaN;

/** The matrix product in float64. a [rows, inner], b [inner, columns] -> [rows, columns] */
function product(a: Float32Array, b: Float32Array, inner: number): number[] {
  const columns = b.length / inner;
  return Array.from({ length: (a.length / inner) * columns }, (_, i) => {
    const row = Math.floor(i / columns);
    let sum = 0;
    for (let k = 0; k < inner; k++)
      sum += number(a, row * inner + k) * number(b, k * columns + (i % columns));
    return sum;
  });
}

function assertNear(found: ArrayLike<number>, wanted: ArrayLike<number>, tolerance: number): void {
  assert.equal(found.length, wanted.length);
  for (let i = 0; i < wanted.length; i++) {
    const error = Math.abs(number(found, i) - number(wanted, i));
    assert.ok(error <= tolerance, `number ${i} is off by ${error}`);
  }
}

describe("the rotation", () => {
  for (const size of [1, 2, 4, 8, 16, 32]) {
    it(`of ${size} numbers is orthonormal, symmetric and so its own inverse`, () => {
      const matrix = hadamard(size);
      const identity = Array.from({ length: size * size }, (_, i) => (i % (size + 1) === 0 ? 1 : 0));
      assertNear(product(matrix, matrix, size), identity, 1e-6);
      const transposed = matrix.map((_, i) => number(matrix, (i % size) * size + Math.floor(i / size)));
      assert.deepEqual(transposed, matrix);
      for (const x of matrix) assert.ok(Math.abs(Math.abs(x) - 1 / Math.sqrt(size)) < 1e-7);
    });
  }

  for (const [size, block] of [
    [1, 1],
    [3, 1],
    [6, 2],
    [12, 4],
    [32, 32],
    [64, 32],
    [384, 32],
    [1536, 32],
    [80, 16],
  ] as const) {
    it(`takes ${block} of ${size} numbers together`, () => assert.equal(rotationBlock(size), block));
  }

  it("of a matrix's rows is the product with the Hadamard matrix, block by block", () => {
    const [block, columns] = [8, 5];
    const matrix = floats(3 * block * columns);
    const wanted = [0, 1, 2].flatMap((i) =>
      product(hadamard(block), matrix.subarray(i * block * columns, (i + 1) * block * columns), block),
    );
    const given = matrix.slice();
    const rotated = rotateRows(matrix, block, columns);
    assertNear(rotated, wanted, 1e-6);
    assert.deepEqual(matrix, given, "the matrix itself is left as it is");
    assertNear(rotateRows(rotated, block, columns), matrix, 1e-6);
  });
});

describe("quantized weights", () => {
  const [inputs, outputs, block] = [96, 7, 32];
  const weight = floats(outputs * inputs).map((x, i) => (i % 50 === 0 ? 30 * x : x));
  const zeroRow = 3;
  weight.fill(0, zeroRow * inputs, (zeroRow + 1) * inputs);
  const { values, scales } = quantizeWeights(weight, outputs, block);
  // each output's weights, rotated: one column of blocks of rows
  const wanted = Array.from({ length: outputs }, (_, n) =>
    rotateRows(weight.slice(n * inputs, (n + 1) * inputs), block, 1),
  );

  it("lie within -127 and 127, and each output's largest is one of them", () => {
    for (let n = 0; n < outputs; n++) {
      const column = Array.from({ length: inputs }, (_, k) => Math.abs(number(values, k * outputs + n)));
      assert.equal(Math.max(...column), n === zeroRow ? 0 : 127);
    }
  });

  it("are off by half a step at most", () => {
    for (const [n, row] of wanted.entries()) {
      const step = number(scales, n);
      for (const [k, x] of row.entries()) {
        const error = Math.abs(number(values, k * outputs + n) * step - x);
        assert.ok(error <= step * 0.5001, `output ${n}, input ${k}: ${error / step} steps`);
      }
    }
  });

  it("of an output that is zero throughout are zeros with a scale that divides", () => {
    assert.equal(scales[zeroRow], 1);
    assert.ok(scales.every((scale) => scale > 0 && Number.isFinite(scale)));
  });
});
