import type { GraphBuilder, Value } from "../file/graph-builder.ts";
import type { Rows } from "../layers/arithmetic.ts";
import { anyKeyOf, largest, withOnes } from "../layers/softmax-sum.ts";
import { TOKEN_TREE_IO } from "../token-tree-io.ts";
import type { Chunks, Context, RunContext } from "./token-tree-context.ts";
import { type Projected, project } from "./token-tree-projection.ts";

export interface Block {
  readonly keys: Value; // [heads, size, keys]
  readonly values: Value; // [heads, keys, size]
}

/** A block whose values have an additional column of ones, which sums the weights. */
export interface Rest {
  readonly keys: Value; // [heads, size, keys]
  readonly values: Value; // [heads, keys, size + 1]
}

/** Numerator and denominator of the softmax. */
export interface Sums {
  readonly values: Value; // [heads, queries, size], values times weights
  readonly weights: Value; // [heads, queries, 1]
}

/**
 * Attention mask: 0, or -inf for masked keys.
 *
 * @param queryNodes [queries, 3]
 * @param keyNodes   [keys]
 * @returns          [1, queries, keys]
 */
export function visibility(graph: GraphBuilder, queryNodes: Value, keyNodes: Value): Value {
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
export function attention(
  context: RunContext,
  layer: number,
  rows: Rows,
  isLast: boolean,
  mask: Value,
): Value {
  const { graph } = context;
  const fresh = project(context, layer, rows);
  const kept = (value: Value, axis: number) =>
    isLast ? graph.node("Gather", [value, context.readAt], { axis }) : value;
  const asked: Asked = { queries: kept(fresh.queries, 0), mask: kept(mask, 1), isChunked: !isLast };
  const seen = `seen_${layer}`;
  graph.eitherAll(
    context.isSmall,
    "float32",
    [seen, ...keyValueOutputs(context, layer)],
    () => [overNew(context, fresh, asked), ...nothing(context), ...nothing(context)],
    () => overAll(context, layer, fresh, asked),
  );
  return seen;
}

/** Declares keys and values of the new tokens of the prefix, and of the others. */
function keyValueOutputs({ graph, shape, headSize }: Context, layer: number): readonly Value[] {
  const declare = (keys: Value, values: Value, tokens: string) => {
    graph.output(keys, "float32", [shape.heads, headSize, tokens]);
    graph.output(values, "float32", [shape.heads, tokens, headSize]);
    return [keys, values];
  };
  return [
    ...declare(TOKEN_TREE_IO.prefixKeys(layer), TOKEN_TREE_IO.prefixValues(layer), "prefix_tokens"),
    ...declare(TOKEN_TREE_IO.keys(layer), TOKEN_TREE_IO.values(layer), "rest_tokens"),
  ];
}

/** Queries, and their mask of the rest. */
export interface Asked {
  readonly queries: Value; // [queries, heads, size]
  readonly mask: Value; // [1, queries, rest keys]
  /** Whether the queries are split into chunks. */
  readonly isChunked: boolean;
}

/** Empty keys and values. */
function nothing({ graph, shape, headSize }: Context): readonly Value[] {
  const empty = (...sizes: number[]) =>
    graph.node("Identity", [graph.constant("float32", sizes, new Float32Array(0))]);
  return [empty(shape.heads, headSize, 0), empty(shape.heads, 0, headSize)];
}

/**
 * Attention over a few new keys only. The products read keys and values without transposing and concatenating them,
 * which would take 4 % of a small forward. They sum the same numbers in the same order as `overAll`, so both give the
 * same bits.
 */
function overNew(context: Context, fresh: Projected, { queries, mask }: Asked): Value {
  const { graph } = context;
  const attributes = { transBatchA: 1, transBatchB: 1, transB: 1 };
  const products = graph.node("Add", [graph.contrib("FusedMatMul", [queries, fresh.keys], attributes), mask]);
  const weights = weightsOf(graph, products, largest(graph, products));
  const sums = graph.contrib("FusedMatMul", [weights, withOnes(graph, fresh.values)], { transBatchB: 1 });
  return mean(context, sumsOf(context, sums));
}

/**
 * Attention over all keys: a prefix, keys of earlier runs, any number of new ones.
 *
 * @returns the attention output, then keys and values of the new tokens of the prefix, and of the others
 */
function overAll(context: RunContext, layer: number, projected: Projected, asked: Asked): readonly Value[] {
  const { graph } = context;
  const pastPrefix = past(context, "prefix", layer);
  const pastRest = past(context, "rest", layer);
  const overBoth = (prefix: Block, rest: Block) => {
    const joinedRest = restOf(graph, pastRest, rest);
    return inChunks(context, context.chunks, asked, (some) =>
      joined(context, some, { prefix, rest: joinedRest }),
    );
  };
  const results = (which: string) => RESULTS.map((name) => `${which}_${name}_${layer}`);
  // a cached state is used in place: copying its keys and values would cost more than a question's own computation
  const withPrefix = () =>
    graph.eitherAll(
      context.prefixIsPast,
      "float32",
      results("with_prefix"),
      () => {
        const rest = blockOf(graph, projected);
        return [overBoth(pastPrefix, rest), ...nothing(context), rest.keys, rest.values];
      },
      () => {
        const { prefix, rest } = splitBlock(graph, blockOf(graph, projected), context.split);
        return [overBoth(prefix, rest), prefix.keys, prefix.values, rest.keys, rest.values];
      },
    );
  return graph.eitherAll(context.hasPrefix, "float32", results("over_all"), withPrefix, () => {
    const block = blockOf(graph, projected);
    const rest = restOf(graph, pastRest, block);
    const seen = inChunks(context, context.chunks, asked, (some) => summed(context, some, rest));
    return [seen, ...nothing(context), block.keys, block.values];
  });
}
const RESULTS = ["seen", "prefix_keys", "prefix_values", "keys", "values"];

/** [queries, hidden], chunk by chunk. */
export function inChunks(
  context: Context,
  { count, size }: Chunks,
  asked: Asked,
  attend: (some: Asked) => Sums,
): Value {
  const { graph, shape } = context;
  if (!asked.isChunked) return mean(context, attend(asked));
  const chunks = graph.loop(count, "float32", (round) => {
    const begin = graph.node("Mul", [round, size]);
    const end = graph.node("Add", [begin, size]);
    const cut = (value: Value, axis: number) =>
      graph.node("Slice", [value, begin, end, graph.integers(axis)]);
    return mean(context, attend({ ...asked, queries: cut(asked.queries, 0), mask: cut(asked.mask, 1) }));
  });
  return graph.node("Reshape", [chunks, graph.integers(-1, shape.hidden)]);
}

/**
 * Sums over the rest: weighted values, and weights. A weight is `exp(logit - maximum)`. The maximum is subtracted
 * because logits reach 84 in the embedded model's first layer, and `exp` overflows at 89.
 */
export function summed(context: Context, asked: Asked, rest: Rest): Sums {
  const products = masked(context.graph, asked, rest);
  return weighted(context, products, largest(context.graph, products), rest);
}

/**
 * The same over both blocks. Every query sees the whole prefix, so the runtime's softmax over it, which is much faster
 * than its parts, is a fixed sequence of operations.
 */
export function joined(
  context: Context,
  asked: Asked,
  { prefix, rest }: { readonly prefix: Block; readonly rest: Rest },
): Sums {
  const { graph } = context;
  const products = affinity(graph, asked.queries, prefix.keys);
  const weights = graph.node("Softmax", [products], { axis: -1 });
  const ofPrefix = graph.node("MatMul", [weights, prefix.values]);
  const inRest = masked(graph, asked, rest);
  const { product, weight } = anyKeyOf(graph, products, weights);
  const highest = graph.node("Max", [product, largest(graph, inRest)]);
  // exp(product - highest) is the key's weight relative to the rest, and its known share of the prefix
  const prefixSum = graph.node("Div", [graph.node("Exp", [graph.node("Sub", [product, highest])]), weight]);
  const ofRest = weighted(context, inRest, highest, rest);
  return {
    values: graph.node("Add", [graph.node("Mul", [ofPrefix, prefixSum]), ofRest.values]),
    weights: graph.node("Add", [prefixSum, ofRest.weights]),
  };
}

/**
 * Product of queries and keys, without transposing the queries, which would take 5 % of a small forward.
 *
 * @param queries [queries, heads, size]
 * @param keys    [heads, size, keys]
 * @returns       [heads, queries, keys]
 */
function affinity(graph: GraphBuilder, queries: Value, keys: Value): Value {
  return graph.contrib("FusedMatMul", [queries, keys], { transBatchA: 1 });
}

/** [heads, queries, rest keys] */
function masked(graph: GraphBuilder, { queries, mask }: Asked, { keys }: Rest): Value {
  return graph.node("Add", [affinity(graph, queries, keys), mask]);
}

/** Both sums from one matrix product. */
function weighted(context: Context, products: Value, highest: Value, { values }: Rest): Sums {
  const { graph } = context;
  return sumsOf(context, graph.node("MatMul", [weightsOf(graph, products, highest), values]));
}

const weightsOf = (graph: GraphBuilder, products: Value, highest: Value) =>
  graph.node("Exp", [graph.node("Sub", [products, highest])]);

/** @param both [heads, queries, size + 1] */
function sumsOf({ graph, headSize }: Context, both: Value): Sums {
  const [values, weights] = graph.splitInTwo(both, graph.integers(headSize, 1), 2);
  return { values, weights };
}

/** [queries, hidden] */
function mean({ graph, shape }: Context, { values, weights }: Sums): Value {
  const means = graph.node("Transpose", [graph.node("Div", [values, weights])], { perm: [1, 0, 2] });
  return graph.node("Reshape", [means, graph.integers(-1, shape.hidden)]);
}

/** The first tokens of a block, and the others. @param sizes int64 [2] */
export function splitBlock(graph: GraphBuilder, block: Block, sizes: Value): { prefix: Block; rest: Block } {
  const [prefixKeys, restKeys] = graph.splitInTwo(block.keys, sizes, 2);
  const [prefixValues, restValues] = graph.splitInTwo(block.values, sizes, 1);
  return {
    prefix: { keys: prefixKeys, values: prefixValues },
    rest: { keys: restKeys, values: restValues },
  };
}

/** Keys and values of a block from earlier runs. */
function past({ graph, shape, headSize }: Context, which: "prefix" | "rest", layer: number): Block {
  const { heads } = shape;
  const tokens = `past_${which}_keys`;
  return {
    keys: graph.input(TOKEN_TREE_IO.pastKeys(which, layer), "float32", [heads, headSize, tokens]),
    values: graph.input(TOKEN_TREE_IO.pastValues(which, layer), "float32", [heads, tokens, headSize]),
  };
}

/** The rest: keys encoded earlier, then new ones. */
function restOf(graph: GraphBuilder, earlier: Block, fresh: Block): Rest {
  return summable(graph, {
    keys: graph.node("Concat", [earlier.keys, fresh.keys], { axis: 2 }),
    values: graph.node("Concat", [earlier.values, fresh.values], { axis: 1 }),
  });
}

export function summable(graph: GraphBuilder, { keys, values }: Block): Rest {
  return { keys, values: withOnes(graph, values) };
}

export function blockOf(graph: GraphBuilder, { keys, values }: Projected): Block {
  return {
    keys: graph.node("Transpose", [keys], { perm: [1, 2, 0] }),
    values: graph.node("Transpose", [values], { perm: [1, 0, 2] }),
  };
}
