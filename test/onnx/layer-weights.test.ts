import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { words } from "../../src/onnx/encoder/bert-token-tree.ts";
import { layerWeights } from "../../src/onnx/encoder/layer-weights.ts";
import { GraphBuilder } from "../../src/onnx/file/graph-builder.ts";
import { scaledRows } from "../../src/onnx/layers/int8-rows.ts";
import { quantizeWeights, rotateRows, rotationBlock } from "../../src/onnx/layers/quantized-weights.ts";
import type { TokenTreeShape, Weights } from "../../src/onnx/token-tree-io.ts";
import { seededRandom } from "../support/seeded-random.ts";

const hidden = 64;
const SHAPE: TokenTreeShape = {
  vocab: 10,
  hidden,
  heads: 2,
  inner: 96,
  layers: 2,
  positions: 8,
  layerNormEpsilon: 1e-12,
};

/** Random weights, stored as int8 rows where `isInt8` says so. */
function stored(isInt8: (name: string) => boolean): Weights {
  const of = (name: string, salt: number) => seededRandom(name.length * 1000 + name.charCodeAt(7) + salt);
  const sizeOf = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);
  const int8 = (name: string, shape: readonly number[]) => {
    if (!isInt8(name)) return;
    const [rows = 0] = shape;
    const columns = sizeOf(shape) / rows;
    const { below, next } = of(name, 1);
    const values = Int8Array.from({ length: sizeOf(shape) }, (_, at) =>
      at % columns === 3 ? 127 : below(255) - 127,
    );
    return { values, scales: Float32Array.from({ length: rows }, () => 0.01 + next()) };
  };
  return {
    int8,
    float16: (_, shape) => new Uint16Array(sizeOf(shape)),
    float32(name, shape) {
      const rows = int8(name, shape);
      if (rows) return scaledRows(rows);
      const { next } = of(name, 2);
      return Float32Array.from({ length: sizeOf(shape) }, () => 0.2 + next());
    },
  };
}

describe("layers stored as int8 rows", () => {
  const weights = stored(() => true);
  const read = layerWeights(
    stored((name) => !name.includes("ln")),
    SHAPE,
  );
  for (const [name, outputs, inputs, norm] of [
    ["layers.0.qkv.weight", 3 * hidden, hidden, "ln.weight"],
    ["layers.1.qkv.weight", 3 * hidden, hidden, "layers.0.ln2.weight"],
    ["layers.1.up.weight", SHAPE.inner, hidden, "layers.1.ln1.weight"],
    ["layers.1.out.weight", hidden, hidden, undefined],
    ["layers.0.down.weight", hidden, SHAPE.inner, undefined],
  ] as const) {
    it(`have the same integers in the graph: ${name}`, () => {
      const gain = norm && read.float32(norm, [hidden]);
      const folded = read
        .float32(name, [outputs, inputs])
        .map((weight, at) => weight * (gain?.[at % inputs] ?? 1));
      if (name.includes("qkv")) {
        const values = folded.subarray(2 * hidden * hidden);
        values.set(rotateRows(values, rotationBlock(hidden / SHAPE.heads), hidden));
      }
      const found = quantizeWeights(folded, outputs, rotationBlock(inputs)).values;
      const wanted = weights.int8(name, [outputs, inputs])?.values ?? new Int8Array();
      const transposed = wanted.map(
        (_, at) => wanted[(at % outputs) * inputs + Math.floor(at / outputs)] ?? 0,
      );
      assert.deepEqual(found, transposed);
    });
  }

  it("are read as they are if they are stored in floating point", () => {
    const plain = stored(() => false);
    const name = "layers.0.qkv.weight";
    const shape = [3 * hidden, hidden];
    assert.deepEqual(layerWeights(plain, SHAPE).float32(name, shape), plain.float32(name, shape));
  });
});

// else the runtime's kernels end the process at packed weights that begin within a line
it("words stored as int8 rows are constants of whole cache lines", () => {
  const lengths: number[] = [];
  const graph = new GraphBuilder({
    name: "weights.bin",
    append(parts) {
      lengths.push(Buffer.concat([...parts]).length);
      return { offset: 0, length: lengths.at(-1) ?? 0 };
    },
  });
  words(
    graph,
    stored(() => true),
    [4103, hidden],
    graph.input("ids", "int32", ["tokens"]),
  );
  assert.equal(lengths.length, 2);
  for (const length of lengths) assert.equal(length % 64, 0);
});
