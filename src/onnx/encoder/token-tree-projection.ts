import type { Value } from "../file/graph-builder.ts";
import type { Rows } from "../layers/arithmetic.ts";
import { type Linear, rotateOutputs } from "../layers/linear.ts";
import type { Context } from "./token-tree-context.ts";

/** Of each token, [tokens, heads, size]. */
export interface Projected {
  /** Already divided by the square root of the head size. */
  readonly queries: Value;
  readonly keys: Value;
  readonly values: Value;
}

/** @param rows [tokens, hidden] */
export function project(context: Context, layer: number, rows: Rows): Projected {
  const { graph, shape, headSize } = context;
  const all = context.arithmetic.read(rows, projection(context, `layers.${layer}.qkv`));
  const { heads } = shape;
  const byHead = graph.node("Reshape", [all, graph.integers(-1, 3 * heads, headSize)]);
  const [queries, keys, values] = graph.splitInThree(byHead, graph.integers(heads, heads, heads), 1);
  return { queries, keys, values };
}

/** The stored projection with queries scaled. */
function projection({ weights, shape, headSize, arithmetic }: Context, name: string): Linear {
  const { hidden } = shape;
  const weight = weights.float32(`${name}.weight`, [3 * hidden, hidden]);
  const bias = weights.float32(`${name}.bias`, [3 * hidden]);
  const part = (begin: number, end: number): Linear => ({
    weight: weight.slice(begin * hidden, end * hidden),
    bias: bias.slice(begin, end),
  });
  const scale = 1 / Math.sqrt(headSize);
  const queries = part(0, hidden);
  const rotation = arithmetic.rotationOf(headSize); // divides the head size, so no block spans two heads
  const values = part(2 * hidden, 3 * hidden);
  return stack([
    { weight: queries.weight.map((x) => x * scale), bias: queries.bias.map((x) => x * scale) },
    part(hidden, 2 * hidden),
    rotation > 1 ? rotateOutputs(values, rotation) : values,
  ]);
}

/** One linear layer with the concatenated outputs of all. */
function stack(maps: readonly Linear[]): Linear {
  const join = (parts: readonly Float32Array[]) => {
    const joined = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  };
  return { weight: join(maps.map(({ weight }) => weight)), bias: join(maps.map(({ bias }) => bias)) };
}
