import type { Arithmetic, Rows } from "./arithmetic.ts";
import type { GraphBuilder, Value } from "./graph-builder.ts";
import { type Linear, rotateOutputs } from "./linear.ts";
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
  readonly seesPrefix: Value;
  readonly prefixIsPast: Value;
  readonly chunks: Value;
  readonly chunkSize: Value;
}

interface PerBlock<Of> {
  readonly prefix: Of;
  readonly rest: Of;
}

/** What the queries of a layer may see: 0, or -inf for keys that are hidden from them. [1, tokens, keys] */
export type Masks = PerBlock<Value>;

interface Block {
  readonly keys: Value; // [heads, size, keys]
  readonly values: Value; // [heads, keys, size + 1]
}

/** Which keys each query may see. */
export function visibility(graph: GraphBuilder): Masks {
  const queryNodes = graph.input(TOKEN_TREE_IO.queryNodes, "int32", ["tokens", 3]);
  const ancestors = [0, 1, 2].map((i) =>
    graph.node("Slice", [queryNodes, graph.integers(i), graph.integers(i + 1), graph.integers(1)]),
  );
  const visible = graph.floats([1], 0);
  const hidden = graph.floats([1], Number.NEGATIVE_INFINITY);
  const mask = (nodes: Value): Value => {
    const row = graph.node("Unsqueeze", [nodes, graph.integers(0)]);
    const allowed = ancestors
      .map((ancestor) => graph.node("Equal", [ancestor, row]))
      .reduce((either, or) => graph.node("Or", [either, or]));
    return graph.node("Unsqueeze", [graph.node("Where", [allowed, visible, hidden]), graph.integers(0)]);
  };
  return {
    prefix: mask(graph.input(TOKEN_TREE_IO.prefixNodes, "int32", ["prefix_keys"])),
    rest: mask(graph.input(TOKEN_TREE_IO.restNodes, "int32", ["rest_keys"])),
  };
}

/** [tokens, hidden] -> [queries, hidden], before the output projection. Every token is a query unless `isLast`. */
export function attention(context: Context, layer: number, rows: Rows, isLast: boolean, masks: Masks): Value {
  const { graph, shape, headSize } = context;
  const { queries: all, keys, values } = project(context, layer, rows);
  const kept = (value: Value) =>
    isLast ? graph.node("Gather", [value, context.readAt], { axis: 1 }) : value;
  const queries = kept(all);
  graph.output(keys, "float32", [shape.heads, headSize, "tokens"]);
  graph.output(values, "float32", [shape.heads, "tokens", headSize + 1]);
  const [newPrefixKeys, newRestKeys] = graph.splitInTwo(keys, context.split, 2);
  const [newPrefixValues, newRestValues] = graph.splitInTwo(values, context.split, 1);
  const pastPrefix = past(context, "prefix", layer);
  const rest = behind(graph, past(context, "rest", layer), { keys: newRestKeys, values: newRestValues });
  const masksOf = (cut: (value: Value) => Value) => ({ prefix: cut(masks.prefix), rest: cut(masks.rest) });
  const overPrefix = (prefix: Block) => () => {
    if (isLast) return attend(context, queries, { prefix, rest }, masksOf(kept));
    return graph.loop(context.chunks, "float32", (round) => {
      const begin = graph.node("Mul", [round, context.chunkSize]);
      const end = graph.node("Add", [begin, context.chunkSize]);
      const cut = (value: Value) => graph.node("Slice", [value, begin, end, graph.integers(1)]);
      return attend(context, cut(queries), { prefix, rest }, masksOf(cut));
    });
  };
  // a known state is used where it lies: copies of its keys and values would cost more than a question's own work
  const seen = graph.either(context.prefixIsPast, "float32", overPrefix(pastPrefix), () =>
    overPrefix(behind(graph, pastPrefix, { keys: newPrefixKeys, values: newPrefixValues }))(),
  );
  return graph.node("Reshape", [seen, graph.integers(-1, shape.hidden)]);
}

/** Weighted means of the values that the queries see. [heads, queries, size] -> [queries, hidden] */
function attend(context: Context, queries: Value, blocks: PerBlock<Block>, masks: PerBlock<Value>): Value {
  const { graph, shape, headSize } = context;
  const products = (block: Block) => graph.node("MatMul", [queries, block.keys]); // [heads, queries, keys]
  const masked = (block: "prefix" | "rest") => () =>
    graph.node("Add", [products(blocks[block]), masks[block]]);
  const unmasked = () => products(blocks.prefix);
  const seen = [
    {
      affinity: graph.either(context.seesPrefix, "float32", unmasked, masked("prefix")),
      values: blocks.prefix.values,
    },
    { affinity: masked("rest")(), values: blocks.rest.values },
  ];
  const largest = seen
    .map(({ affinity }) => graph.node("ReduceMax", [affinity, graph.integers(2)], { keepdims: 1 }))
    .reduce((a, b) => graph.node("Max", [a, b]));
  const summed = seen
    .map(({ affinity, values }) => {
      const weight = graph.node("Exp", [graph.node("Sub", [affinity, largest])]);
      return graph.node("MatMul", [weight, values]); // [heads, queries, size + 1]
    })
    .reduce((a, b) => graph.node("Add", [a, b]));
  const [total, weightSum] = graph.splitInTwo(summed, graph.integers(headSize, 1), 2);
  const mean = graph.node("Transpose", [graph.node("Div", [total, weightSum])], { perm: [1, 0, 2] });
  return graph.node("Reshape", [mean, graph.integers(-1, shape.hidden)]);
}

/** A block's keys and values of earlier runs. */
function past({ graph, shape, headSize }: Context, which: "prefix" | "rest", layer: number): Block {
  const { heads } = shape;
  const tokens = `past_${which}_keys`;
  return {
    keys: graph.input(TOKEN_TREE_IO.pastKeys(which, layer), "float32", [heads, headSize, tokens]),
    values: graph.input(TOKEN_TREE_IO.pastValues(which, layer), "float32", [heads, tokens, headSize + 1]),
  };
}

function behind(graph: GraphBuilder, earlier: Block, fresh: Block): Block {
  return {
    keys: graph.node("Concat", [earlier.keys, fresh.keys], { axis: 2 }),
    values: graph.node("Concat", [earlier.values, fresh.values], { axis: 1 }),
  };
}

/**
 * Queries (already divided by the square root of the head size), keys as their product takes them, and values with
 * a column of ones. [tokens, hidden] -> [heads, tokens, size], [heads, size, tokens], [heads, tokens, size + 1]
 */
function project(context: Context, layer: number, rows: Rows) {
  const { graph, shape, headSize } = context;
  const { heads, hidden } = shape;
  const all = context.arithmetic.read(rows, projection(context, `layers.${layer}.qkv`), "finely");
  const [queries, others] = graph.splitInTwo(all, graph.integers(hidden, 2 * hidden + heads), 1);
  const [keys, values] = graph.splitInTwo(others, graph.integers(hidden, hidden + heads), 1);
  const byHead = (value: Value, size: number, perm: readonly number[], name?: string) => {
    const reshaped = graph.node("Reshape", [value, graph.integers(-1, heads, size)]);
    return graph.node("Transpose", [reshaped], { perm }, name);
  };
  return {
    queries: byHead(queries, headSize, [1, 0, 2]),
    keys: byHead(keys, headSize, [1, 2, 0], TOKEN_TREE_IO.keys(layer)),
    values: byHead(values, headSize + 1, [1, 0, 2], TOKEN_TREE_IO.values(layer)),
  };
}

/** The stored projection with queries scaled and, behind each head's values, a row that gives 1. */
function projection({ weights, shape, headSize, arithmetic }: Context, name: string): Linear {
  const { heads, hidden } = shape;
  const weight = weights.float32(`${name}.weight`, [3 * hidden, hidden]);
  const bias = weights.float32(`${name}.bias`, [3 * hidden]);
  const part = (begin: number, end: number): Linear => ({
    weight: weight.slice(begin * hidden, end * hidden),
    bias: bias.slice(begin, end),
  });
  const scale = 1 / Math.sqrt(headSize);
  const queries = part(0, hidden);
  const rotation = arithmetic.rotationOf(headSize);
  const values = (head: number) => {
    const begin = 2 * hidden + head * headSize;
    const stored = part(begin, begin + headSize);
    return rotation > 1 ? rotateOutputs(stored, rotation) : stored;
  };
  const one: Linear = { weight: new Float32Array(hidden), bias: Float32Array.of(1) };
  return stack([
    { weight: queries.weight.map((x) => x * scale), bias: queries.bias.map((x) => x * scale) },
    part(hidden, 2 * hidden),
    ...Array.from({ length: heads }, (_, head) => [values(head), one]).flat(),
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
