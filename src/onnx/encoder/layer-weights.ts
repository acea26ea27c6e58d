import { rotateRows, rotationBlock } from "../layers/quantized-weights.ts";
import type { TokenTreeShape, Weights } from "../token-tree-io.ts";

/**
 * Weights of which the layers' matrices may be stored as the int8 rows that the graph multiplies by: times the gain of
 * the layer normalization before them, inputs rotated, outputs of the values rotated. As float32 they are turned back,
 * so the graph's own rounding finds the same integers again.
 *
 * @see training/snap.py, which makes them
 */
export function layerWeights(weights: Weights, { hidden, heads }: TokenTreeShape): Weights {
  return {
    float16: (name, shape) => weights.float16(name, shape),
    int8: (name, shape) => weights.int8(name, shape),
    float32(name, shape) {
      const stored = weights.float32(name, shape);
      const [, layer, part] = /^layers\.(\d+)\.(qkv|out|up|down)\.weight$/.exec(name) ?? [];
      const [, inputs = 0] = shape;
      if (part === undefined || !weights.int8(name, shape)) return stored;
      const matrix = rotateRows(stored, rotationBlock(inputs), 1);
      if (part === "out" || part === "down") return matrix;
      const values = matrix.subarray(part === "qkv" ? 2 * hidden * hidden : matrix.length);
      values.set(rotateRows(values, rotationBlock(hidden / heads), hidden));
      const gain = weights.float32(`${normBefore(part, Number(layer))}.weight`, [hidden]);
      return matrix.map((weight, at) => weight / (gain[at % hidden] as number)); // in range
    },
  };
}

function normBefore(part: string, layer: number): string {
  if (part === "up") return `layers.${layer}.ln1`;
  return layer === 0 ? "ln" : `layers.${layer - 1}.ln2`;
}
