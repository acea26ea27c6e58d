import type { Arithmetic, Rows } from "./arithmetic.ts";
import type { GraphBuilder, Value } from "./graph-builder.ts";
import { type Linear, rotateOutputs } from "./linear.ts";
import { anyKeyOf, largest } from "./softmax-sum.ts";
import { TOKEN_TREE_IO, type TokenTreeShape, type Weights } from "./token-tree-io.ts";

/** What the layers share. */
export interface Context {
  readonly graph: GraphBuilder;
  readonly shape: TokenTreeShape;
  readonly weights: Weights;
  readonly arithmetic: Arithmetic;
  readonly headSize: number;
  readonly split: Value;
  readonly readAt: Value;
  readonly hasPrefix: Value;
  readonly prefixIsPast: Value;
  readonly chunks: Value;
  readonly chunkSize: Value;
  readonly isOneChunk: Value;
}

interface Block {
  readonly keys: Value; // [heads, size, keys]
  readonly values: Value; // [heads, keys, size]
}

/** A block whose weights are summed by a column of ones behind the values. */
interface Rest {
  readonly keys: Value; // [heads, size, keys]
  readonly values: Value; // [heads, keys, size + 1]
}

/** Before the one is divided by the other. */
interface Sums {
  readonly values: Value; // [heads, queries, size], each value times its weight
  readonly weights: Value; // [heads, queries, 1]
}

/** Which keys of the rest each query may see: 0, or -inf for those that are hidden from it. [1, tokens, rest keys] */
export function visibility(graph: GraphBuilder): Value {
  const queryNodes = graph.input(TOKEN_TREE_IO.queryNodes, "int32", ["tokens", 3]);
  const keyNodes = graph.input(TOKEN_TREE_IO.restNodes, "int32", ["rest_keys"]);
  const row = graph.node("Unsqueeze", [keyNodes, graph.integers(0)]);
  const allowed = [0, 1, 2]
    .map((i) =>
      graph.node("Slice", [queryNodes, graph.integers(i), graph.integers(i + 1), graph.integers(1)]),
    )
    .map((ancestor) => graph.node("Equal", [ancestor, row]))
    .reduce((either, or) => graph.node("Or", [either, or]));
  const mask = [allowed, graph.floats([1], 0), graph.floats([1], Number.NEGATIVE_INFINITY)];
  return graph.node("Unsqueeze", [graph.node("Where", mask), graph.integers(0)]);
}

/** [tokens, hidden] -> [queries, hidden], before the output projection. Every token is a query unless `isLast`. */
export function attention(context: Context, layer: number, rows: Rows, isLast: boolean, mask: Value): Value {
  const { graph, shape, headSize } = context;
  const fresh = project(context, layer, rows);
  const kept = (value: Value, axis: number) =>
    isLast ? graph.node("Gather", [value, context.readAt], { axis }) : value;
  const queries = kept(fresh.queries, 0);
  graph.output(fresh.keys, "float32", [shape.heads, headSize, "tokens"]);
  graph.output(fresh.values, "float32", [shape.heads, "tokens", headSize]);
  const pastPrefix = past(context, "prefix", layer);
  const pastRest = past(context, "rest", layer);
  /** @param attend of queries [queries, heads, size], [1, queries, rest keys] */
  const inChunks = (attend: (queries: Value, mask: Value) => Sums) => {
    if (isLast) return mean(context, attend(queries, kept(mask, 1)));
    return graph.loop(context.chunks, "float32", (round) => {
      const begin = graph.node("Mul", [round, context.chunkSize]);
      const end = graph.node("Add", [begin, context.chunkSize]);
      const cut = (value: Value, axis: number) =>
        graph.node("Slice", [value, begin, end, graph.integers(axis)]);
      return mean(context, attend(cut(queries, 0), cut(mask, 1)));
    });
  };
  const overBoth = (prefix: Block, rest: Rest) =>
    inChunks((some, hidden) => joined(context, some, { prefix, rest }, hidden));
  // a known state is used where it lies: copies of its keys and values would cost more than a question's own work
  const seen = graph.either(
    context.hasPrefix,
    "float32",
    () =>
      graph.either(
        context.prefixIsPast,
        "float32",
        () => overBoth(pastPrefix, restOf(graph, pastRest, fresh)),
        () => {
          const { prefix, rest } = split(context, fresh);
          return overBoth(prefix, restOf(graph, pastRest, rest));
        },
      ),
    () => {
      const rest = restOf(graph, pastRest, fresh);
      const attend = (some: Value, hidden: Value) => summed(context, some, rest, hidden);
      if (isLast) return inChunks(attend);
      // a small forward has no time for a loop of one round: 3 % of it (measured)
      const atOnce = () => mean(context, attend(queries, mask));
      return graph.either(context.isOneChunk, "float32", atOnce, () => inChunks(attend));
    },
  );
  return graph.node("Reshape", [seen, graph.integers(-1, shape.hidden)]);
}

/**
 * Sums over the rest: its values times the weights, and the weights. A weight is `exp` of how far a product of query and key lies below
 * the largest that the query sees; in the embedded model's first layer products reach 84, and `exp` of 89 would overflow.
 *
 * @param mask [1, queries, rest keys]
 */
function summed(context: Context, queries: Value, rest: Rest, mask: Value): Sums {
  const products = masked(context.graph, queries, rest, mask);
  return weighted(context, products, largest(context.graph, products), rest);
}

/**
 * The same over both blocks. All of the prefix is seen by every query, so softmax over it, much faster than its parts,
 * is a fixed sequence of operations.
 */
function joined(
  context: Context,
  queries: Value,
  { prefix, rest }: { readonly prefix: Block; readonly rest: Rest },
  mask: Value,
): Sums {
  const { graph } = context;
  const products = affinity(graph, queries, prefix.keys);
  const weights = graph.node("Softmax", [products], { axis: -1 });
  const ofPrefix = graph.node("MatMul", [weights, prefix.values]);
  const inRest = masked(graph, queries, rest, mask);
  const { product, weight } = anyKeyOf(graph, products, weights);
  const highest = graph.node("Max", [product, largest(graph, inRest)]);
  // exp(product - highest) is what the key weighs beside the rest, and it is this share of the prefix
  const prefixSum = graph.node("Div", [graph.node("Exp", [graph.node("Sub", [product, highest])]), weight]);
  const ofRest = weighted(context, inRest, highest, rest);
  return {
    values: graph.node("Add", [graph.node("Mul", [ofPrefix, prefixSum]), ofRest.values]),
    weights: graph.node("Add", [prefixSum, ofRest.weights]),
  };
}

/**
 * Product of queries and keys. To transpose the queries first would take 5 % of a small forward.
 *
 * @param queries [queries, heads, size]
 * @param keys    [heads, size, keys]
 * @returns       [heads, queries, keys]
 */
function affinity(graph: GraphBuilder, queries: Value, keys: Value): Value {
  return graph.contrib("FusedMatMul", [queries, keys], { transBatchA: 1 });
}

/** [heads, queries, rest keys] */
function masked(graph: GraphBuilder, queries: Value, { keys }: Rest, mask: Value): Value {
  return graph.node("Add", [affinity(graph, queries, keys), mask]);
}

/** Both sums come out of one matrix product. */
function weighted({ graph, headSize }: Context, products: Value, highest: Value, { values }: Rest): Sums {
  const weights = graph.node("Exp", [graph.node("Sub", [products, highest])]);
  const sums = graph.node("MatMul", [weights, values]);
  const [ofValues, ofWeights] = graph.splitInTwo(sums, graph.integers(headSize, 1), 2);
  return { values: ofValues, weights: ofWeights };
}

/** [queries, hidden] */
function mean({ graph, shape }: Context, { values, weights }: Sums): Value {
  const means = graph.node("Transpose", [graph.node("Div", [values, weights])], { perm: [1, 0, 2] });
  return graph.node("Reshape", [means, graph.integers(-1, shape.hidden)]);
}

/** The new tokens of the prefix, and the others. */
function split({ graph, split }: Context, fresh: Block): { prefix: Block; rest: Block } {
  const [prefixKeys, restKeys] = graph.splitInTwo(fresh.keys, split, 2);
  const [prefixValues, restValues] = graph.splitInTwo(fresh.values, split, 1);
  return {
    prefix: { keys: prefixKeys, values: prefixValues },
    rest: { keys: restKeys, values: restValues },
  };
}

/** A block's keys and values of earlier runs. */
function past({ graph, shape, headSize }: Context, which: "prefix" | "rest", layer: number): Block {
  const { heads } = shape;
  const tokens = `past_${which}_keys`;
  return {
    keys: graph.input(TOKEN_TREE_IO.pastKeys(which, layer), "float32", [heads, headSize, tokens]),
    values: graph.input(TOKEN_TREE_IO.pastValues(which, layer), "float32", [heads, tokens, headSize]),
  };
}

/** The rest: what was encoded earlier, then what is new. */
function restOf(graph: GraphBuilder, earlier: Block, fresh: Block): Rest {
  const values = graph.node("Concat", [earlier.values, fresh.values], { axis: 1 });
  return {
    keys: graph.node("Concat", [earlier.keys, fresh.keys], { axis: 2 }),
    values: graph.node("Pad", [values, graph.integers(0, 0, 0, 0, 0, 1), graph.floats([], 1)]),
  };
}

/**
 * Queries (already divided by the square root of the head size), keys as their product takes them, and values.
 * [tokens, hidden] -> [tokens, heads, size], [heads, size, tokens], [heads, tokens, size]
 */
function project(context: Context, layer: number, rows: Rows) {
  const { graph, shape, headSize } = context;
  const { heads, hidden } = shape;
  const all = context.arithmetic.read(rows, projection(context, `layers.${layer}.qkv`));
  const [queries, keys, values] = graph.splitInThree(all, graph.integers(hidden, hidden, hidden), 1);
  const byHead = (value: Value, perm: readonly number[], name: string) => {
    const reshaped = graph.node("Reshape", [value, graph.integers(-1, heads, headSize)]);
    return graph.node("Transpose", [reshaped], { perm }, name);
  };
  return {
    queries: graph.node("Reshape", [queries, graph.integers(-1, heads, headSize)]),
    keys: byHead(keys, [1, 2, 0], TOKEN_TREE_IO.keys(layer)),
    values: byHead(values, [1, 0, 2], TOKEN_TREE_IO.values(layer)),
  };
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
  const rotation = arithmetic.rotationOf(headSize); // divides the head size: no run reaches over two heads
  const values = part(2 * hidden, 3 * hidden);
  return stack([
    { weight: queries.weight.map((x) => x * scale), bias: queries.bias.map((x) => x * scale) },
    part(hidden, 2 * hidden),
    rotation > 1 ? rotateOutputs(values, rotation) : values,
  ]);
}

/** One map that gives the outputs of all, one after the other. */
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
