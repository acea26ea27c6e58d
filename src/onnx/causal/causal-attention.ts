import type { GraphBuilder, Value } from "../file/graph-builder.ts";
import type { CausalMasks } from "./causal-masks.ts";
import { type Gemma3Shape, GEMMA3_IO as IO, type LayerKind } from "./gemma3-io.ts";

/** How the queries of a forward are split: shapes for `Reshape`. */
export interface QueryShapes {
  /** [heads, queries, -1] */
  readonly byHead: Value;
  /** [parts, rows, -1], preceded by `kvHeads` if there are several. Threads work on parts. */
  readonly byPart: Value;
}

/** Shared by all layers. */
export interface AttentionContext {
  readonly graph: GraphBuilder;
  readonly shape: Gemma3Shape;
  readonly split: Value;
  readonly readAt: Value;
  readonly prefixIsPast: Value;
  readonly chunks: Value;
  readonly chunkSize: Value;
  readonly chunkShapes: QueryShapes;
  readonly readShapes: QueryShapes;
  readonly layers: Readonly<Record<LayerKind, LayerInputs>>;
  /**
   * Blocks of zeros before the new keys, of a graph that holds whole trees; without it, keys and values enter and
   * leave.
   */
  readonly zeros?: Readonly<Record<"prefix" | "rest", Block>>;
}

/** Shared by all layers of one type. */
export interface LayerInputs {
  readonly masks: CausalMasks;
  readonly seesPrefix: Value;
  readonly prefixFrom: Value;
  readonly prefixTo: Value;
}

export interface Block {
  readonly keys: Value; // [kvHeads, size, keys]
  readonly values: Value; // [kvHeads, keys, size + 1]
}

/**
 * Attention of queries to their own node and the nodes above; see `buildGemma3TokenTree`.
 *
 * @param queries [heads, queries, size], scaled: of every token, or only of the scored ones
 * @param fresh   keys and values of the new tokens
 * @returns       [queries, heads * size]
 */
export function causalAttention(
  context: AttentionContext,
  layer: number,
  queries: Value,
  fresh: Block,
  isRead: boolean,
): Value {
  const { graph, shape, split } = context;
  const kind = shape.layers[layer] ?? "full";
  const { kvHeads, headSize } = shape;
  const keys = [IO.prefixKeys(layer), IO.keys(layer)] as const;
  const values = [IO.prefixValues(layer), IO.values(layer)] as const;
  if (!context.zeros) {
    for (const name of keys) graph.output(name, "float32", [kvHeads, headSize, `${name}_tokens`]);
    for (const name of values) graph.output(name, "float32", [kvHeads, `${name}_tokens`, headSize + 1]);
  }
  const [newPrefixKeys, newRestKeys] = graph.splitInTwo(fresh.keys, split, 2, keys);
  const [newPrefixValues, newRestValues] = graph.splitInTwo(fresh.values, split, 1, values);
  const pastPrefix = past(context, "prefix", layer);
  const rest = behind(graph, past(context, "rest", layer), { keys: newRestKeys, values: newRestValues });
  // a cached prefix is used in place: copying its keys and values would cost more than a question's own computation
  const seen = graph.either(
    context.prefixIsPast,
    "float32",
    () => overPrefix(context, kind, queries, pastPrefix, rest, isRead, kind === "sliding"),
    () => {
      const prefix = behind(graph, pastPrefix, { keys: newPrefixKeys, values: newPrefixValues });
      return overPrefix(context, kind, queries, prefix, rest, isRead, true);
    },
  );
  return graph.node("Reshape", [seen, graph.integers(-1, shape.heads * shape.headSize)]);
}

/** @param isCut whether chunks use only the keys that they need, as a copy */
function overPrefix(
  context: AttentionContext,
  kind: LayerKind,
  queries: Value,
  prefix: Block,
  rest: Block,
  isRead: boolean,
  isCut: boolean,
): Value {
  const { graph, chunkSize, readAt } = context;
  const { masks, seesPrefix, prefixFrom, prefixTo } = context.layers[kind];
  if (isRead) {
    const read = (mask: Value) => graph.node("Gather", [mask, readAt], { axis: 1 });
    const readMasks = { prefix: () => read(masks.prefix), rest: () => read(masks.rest) };
    return attend(context, queries, context.readShapes, prefix, rest, readMasks, seesPrefix);
  }
  return graph.loop(context.chunks, "float32", (round) => {
    const begin = graph.node("Mul", [round, chunkSize]);
    const end = graph.node("Add", [begin, chunkSize]);
    const rows = (value: Value) => graph.node("Slice", [value, begin, end, graph.integers(1)]);
    const at = (ends: Value) =>
      graph.node("Unsqueeze", [graph.node("Gather", [ends, round]), graph.integers(0)]);
    const [from, to] = isCut ? [at(prefixFrom), at(prefixTo)] : ["", ""];
    const keysOf = (value: Value, axis: number) =>
      isCut ? graph.node("Slice", [value, from, to, graph.integers(axis)]) : value;
    const needed = { keys: keysOf(prefix.keys, 2), values: keysOf(prefix.values, 1) };
    const chunkMasks = { prefix: () => keysOf(rows(masks.prefix), 2), rest: () => rows(masks.rest) };
    return attend(context, rows(queries), context.chunkShapes, needed, rest, chunkMasks, seesPrefix);
  });
}

interface Masks {
  readonly prefix: () => Value;
  readonly rest: () => Value;
}

/** Weighted means of the values that the queries attend to. [heads, queries, size] -> [queries, heads * size] */
function attend(
  { graph, shape }: AttentionContext,
  queries: Value,
  shapes: QueryShapes,
  prefix: Block,
  rest: Block,
  masks: Masks,
  seesPrefix: Value,
): Value {
  const { heads, headSize } = shape;
  const parts = (value: Value) => graph.node("Reshape", [value, shapes.byPart]);
  // an additional dimension on the right; otherwise the runtime merges all parts into one product and splits it itself
  const product = (left: Value, right: Value) =>
    graph.node("Reshape", [
      graph.node("MatMul", [parts(left), graph.node("Unsqueeze", [right, graph.integers(1)])]),
      shapes.byHead,
    ]);
  const unmasked = () => product(queries, prefix.keys); // [heads, queries, keys]
  const masked = () => graph.node("Add", [unmasked(), masks.prefix()]);
  const seen = [
    { affinity: graph.either(seesPrefix, "float32", unmasked, masked), values: prefix.values },
    { affinity: graph.node("Add", [product(queries, rest.keys), masks.rest()]), values: rest.values },
  ];
  const largest = seen
    .map(({ affinity }) => graph.node("ReduceMax", [affinity, graph.integers(2)], { keepdims: 1 }))
    .reduce((a, b) => graph.node("Max", [a, b]));
  const summed = seen
    .map(({ affinity, values }) =>
      product(graph.node("Exp", [graph.node("Sub", [affinity, largest])]), values),
    )
    .reduce((a, b) => graph.node("Add", [a, b])); // [heads, queries, size + 1]
  const [total, weightSum] = graph.splitInTwo(summed, graph.integers(headSize, 1), 2);
  const mean = graph.node("Transpose", [graph.node("Div", [total, weightSum])], { perm: [1, 0, 2] });
  return graph.node("Reshape", [mean, graph.integers(-1, heads * headSize)]);
}

/** Keys and values of a block from earlier runs. */
function past({ graph, shape, zeros }: AttentionContext, which: "prefix" | "rest", layer: number): Block {
  if (zeros) return zeros[which];
  const { kvHeads, headSize } = shape;
  const tokens = `past_${which}_keys`;
  return {
    keys: graph.input(IO.pastKeys(which, layer), "float32", [kvHeads, headSize, tokens]),
    values: graph.input(IO.pastValues(which, layer), "float32", [kvHeads, tokens, headSize + 1]),
  };
}

function behind(graph: GraphBuilder, earlier: Block, fresh: Block): Block {
  return {
    keys: graph.node("Concat", [earlier.keys, fresh.keys], { axis: 2 }),
    values: graph.node("Concat", [earlier.values, fresh.values], { axis: 1 }),
  };
}
