import { type Arithmetic, arithmetic, type Norm, type Rows } from "./arithmetic.ts";
import { GraphBuilder, type Value } from "./graph-builder.ts";
import { type Linear, linear, type Multiplication, rotateOutputs } from "./linear.ts";

/**
 * The graph of the token-tree encoder: BERT layers whose attention follows state -> question -> candidate.
 *
 * One run encodes `tokens` new tokens of any number of nodes, packed without padding, and reads what it needs of
 * nodes encoded earlier from their keys and values. Every query looks at two blocks of keys:
 *
 *                      prefix                         rest
 *              ┌──────────────────────┬──────────────────────────────────────┐
 *     keys     │ earlier  │ new       │ earlier   │ new                      │
 *              │ states   │ states    │ questions │ questions, candidates,   │
 *              │          │           │           │ filler                   │
 *              └──────────────────────┴──────────────────────────────────────┘
 *     queries                new states, new questions, new candidates, filler
 *
 * What a query may see of them is decided by node numbers: a query carries those of its state, its question
 * and its own node, a key that of its own.
 *
 * Same bits in any company: softmax is written out so that a pair's result is a fixed sequence of additions.
 * Keys that a query may not see get weight exactly 0 and adding 0 changes nothing; the sum of the weights comes out
 * of the same matrix product as the weighted values, by a column of ones; the two blocks are summed apart. What is
 * left is that a matrix product adds up along the keys in order, which holds within 256 keys (MLAS cuts
 * longer sums into blocks): `src/backends/onnx/forward-plan.ts` forms runs for which that suffices.
 */
export interface TokenTreeShape {
  readonly vocab: number;
  readonly hidden: number;
  readonly heads: number;
  readonly inner: number;
  readonly layers: number;
  readonly positions: number;
  readonly layerNormEpsilon: number;
}

/** A weight in float32, or the bits of float16 for the word embeddings. */
export interface Weights {
  float32(name: string, shape: readonly number[]): Float32Array;
  float16(name: string, shape: readonly number[]): Uint16Array;
}

/** Names of the graph's inputs and outputs; `layer` counts from 0. */
export const TOKEN_TREE_IO = {
  ids: "ids", // int32 [tokens]
  positions: "positions", // int32 [tokens]
  segments: "segments", // int32 [tokens]: 0 state, 1 question, 2 candidate
  split: "split", // int64 [2]: new tokens that belong to the prefix, and the others
  chunks: "chunks", // int64 []: the queries are worked on in so many chunks
  chunkSize: "chunk_size", // int64 [1]: queries of a chunk; chunks * chunk size = tokens
  seesPrefix: "sees_prefix", // bool []: every query sees every key of the prefix, which then needs no mask
  queryNodes: "query_nodes", // int32 [tokens, 3]: numbers of the nodes that the token may see
  prefixNodes: "prefix_nodes", // int32 [prefix keys]
  restNodes: "rest_nodes", // int32 [rest keys]
  readAt: "read_at", // int64 [pairs], at least two: tokens whose hidden states are scored
  pastKeys: (block: "prefix" | "rest", layer: number) => `past_${block}_keys_${layer}`, // [heads, past, size]
  pastValues: (block: "prefix" | "rest", layer: number) => `past_${block}_values_${layer}`, // [heads, past, size + 1]
  scores: "scores", // float32 [pairs]
  keys: (layer: number) => `keys_${layer}`, // float32 [heads, tokens, size]
  values: (layer: number) => `values_${layer}`, // float32 [heads, tokens, size + 1]
} as const;

/** What the layers share. */
interface Context {
  readonly graph: GraphBuilder;
  readonly shape: TokenTreeShape;
  readonly weights: Weights;
  readonly arithmetic: Arithmetic;
  readonly headSize: number;
  readonly split: Value;
  readonly readAt: Value;
  readonly seesPrefix: Value;
  readonly chunks: Value;
  readonly chunkSize: Value;
}

interface PerBlock<Of> {
  readonly prefix: Of;
  readonly rest: Of;
}

/** What the queries of a layer may see: 0, or -inf for keys that are hidden from them. [1, tokens, keys] */
type Masks = PerBlock<Value>;

interface Block {
  readonly keys: Value; // [heads, size, keys]
  readonly values: Value; // [heads, keys, size + 1]
}

/** @returns the bytes of an ONNX file for these weights */
export function buildTokenTree(shape: TokenTreeShape, weights: Weights, form: Multiplication): Uint8Array {
  const graph = new GraphBuilder();
  const context: Context = {
    graph,
    shape,
    weights,
    arithmetic: arithmetic(form, graph, shape.layerNormEpsilon),
    headSize: shape.hidden / shape.heads,
    split: graph.input(TOKEN_TREE_IO.split, "int64", [2]),
    readAt: graph.input(TOKEN_TREE_IO.readAt, "int64", ["pairs"]),
    seesPrefix: graph.input(TOKEN_TREE_IO.seesPrefix, "bool", []),
    chunks: graph.input(TOKEN_TREE_IO.chunks, "int64", []),
    chunkSize: graph.input(TOKEN_TREE_IO.chunkSize, "int64", [1]),
  };
  let rows = context.arithmetic.normalise(embeddings(context), normOf(context, "ln"));
  const masks = visibility(graph);
  for (let layer = 0; layer < shape.layers; layer++) rows = encoderLayer(context, layer, rows, masks);
  head(context, rows);
  return graph.build("token-tree");
}

/** Word + position + segment. @returns [tokens, hidden] */
function embeddings({ graph, shape, weights }: Context): Value {
  const tokens = ["tokens"];
  const { vocab, hidden, positions } = shape;
  const words = graph.constant("float16", [vocab, hidden], weights.float16("word.weight", [vocab, hidden]));
  const places = weights.float32("pos.weight", [positions, hidden]);
  const kinds = weights.float32("seg.weight", [3, hidden]);
  const word = graph.node("Gather", [words, graph.input(TOKEN_TREE_IO.ids, "int32", tokens)]);
  const place = graph.node("Gather", [
    graph.constant("float32", [positions, hidden], places),
    graph.input(TOKEN_TREE_IO.positions, "int32", tokens),
  ]);
  const kind = graph.node("Gather", [
    graph.constant("float32", [3, hidden], kinds),
    graph.input(TOKEN_TREE_IO.segments, "int32", tokens),
  ]);
  const sum = graph.node("Add", [graph.node("Cast", [word], { to: 1 }), place]);
  return graph.node("Add", [sum, kind]);
}

/** Which keys each query may see. */
function visibility(graph: GraphBuilder): Masks {
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

/**
 * Attention and feed-forward, each with its residual and normalisation. [tokens, hidden] -> the same, but after
 * the last layer only the tokens that are read are left: [pairs, hidden].
 */
function encoderLayer(context: Context, layer: number, rows: Rows, masks: Masks): Rows {
  const { graph, shape, arithmetic } = context;
  const { hidden, inner } = shape;
  const name = `layers.${layer}`;
  const isLast = layer === shape.layers - 1;
  const kept = isLast ? { ...rows, residual: graph.node("Gather", [rows.residual, context.readAt]) } : rows;
  const seen = attention(context, layer, rows, isLast, masks);
  const out = linearOf(context, `${name}.out`, hidden, hidden);
  const rotation = arithmetic.rotationOf(context.headSize);
  const middle = arithmetic.add(kept, out, seen, normOf(context, `${name}.ln1`), rotation);
  const up = arithmetic.read(middle, linearOf(context, `${name}.up`, hidden, inner));
  const down = linearOf(context, `${name}.down`, inner, hidden);
  return arithmetic.add(middle, down, graph.node("Gelu", [up]), normOf(context, `${name}.ln2`));
}

/** [tokens, hidden] -> [queries, hidden], before the output projection. Every token is a query unless `isLast`. */
function attention(context: Context, layer: number, rows: Rows, isLast: boolean, masks: Masks): Value {
  const { graph, shape, headSize } = context;
  const { queries: all, keys, values } = project(context, layer, rows);
  const kept = (value: Value) =>
    isLast ? graph.node("Gather", [value, context.readAt], { axis: 1 }) : value;
  const queries = kept(all);
  graph.output(keys, "float32", [shape.heads, "tokens", headSize]);
  graph.output(values, "float32", [shape.heads, "tokens", headSize + 1]);
  const [newPrefixKeys, newRestKeys] = graph.splitInTwo(keys, context.split, 1);
  const [newPrefixValues, newRestValues] = graph.splitInTwo(values, context.split, 1);
  const prefix = block(context, "prefix", layer, newPrefixKeys, newPrefixValues);
  const rest = block(context, "rest", layer, newRestKeys, newRestValues);

  const masksOf = (cut: (value: Value) => Value) => ({ prefix: cut(masks.prefix), rest: cut(masks.rest) });
  if (isLast) return attend(context, queries, { prefix, rest }, masksOf(kept));
  const chunks = graph.loop(context.chunks, "float32", (round) => {
    const begin = graph.node("Mul", [round, context.chunkSize]);
    const end = graph.node("Add", [begin, context.chunkSize]);
    const cut = (value: Value) => graph.node("Slice", [value, begin, end, graph.integers(1)]);
    return attend(context, cut(queries), { prefix, rest }, masksOf(cut));
  });
  return graph.node("Reshape", [chunks, graph.integers(-1, shape.hidden)]);
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

/** A block's keys and values: those of earlier runs, then the new ones. */
function block(context: Context, which: "prefix" | "rest", layer: number, keys: Value, values: Value): Block {
  const { graph, shape, headSize } = context;
  const past = (name: string, size: number) =>
    graph.input(name, "float32", [shape.heads, `past_${which}_keys`, size]);
  const pastKeys = past(TOKEN_TREE_IO.pastKeys(which, layer), headSize);
  const pastValues = past(TOKEN_TREE_IO.pastValues(which, layer), headSize + 1);
  const allKeys = graph.node("Concat", [pastKeys, keys], { axis: 1 });
  return {
    keys: graph.node("Transpose", [allKeys], { perm: [0, 2, 1] }),
    values: graph.node("Concat", [pastValues, values], { axis: 1 }),
  };
}

/**
 * Queries (already divided by the square root of the head size), keys, and values with a column of ones.
 * [tokens, hidden] -> [heads, tokens, size], the same, [heads, tokens, size + 1]
 */
function project(context: Context, layer: number, rows: Rows) {
  const { graph, shape, headSize } = context;
  const { heads, hidden } = shape;
  const all = context.arithmetic.read(rows, projection(context, `layers.${layer}.qkv`), "finely");
  const [queries, others] = graph.splitInTwo(all, graph.integers(hidden, 2 * hidden + heads), 1);
  const [keys, values] = graph.splitInTwo(others, graph.integers(hidden, hidden + heads), 1);
  const byHead = (value: Value, size: number, name?: string) => {
    const reshaped = graph.node("Reshape", [value, graph.integers(-1, heads, size)]);
    return graph.node("Transpose", [reshaped], { perm: [1, 0, 2] }, name);
  };
  return {
    queries: byHead(queries, headSize),
    keys: byHead(keys, headSize, TOKEN_TREE_IO.keys(layer)),
    values: byHead(values, headSize + 1, TOKEN_TREE_IO.values(layer)),
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

/** Score of each pair. [pairs, hidden] -> [pairs] */
function head(context: Context, rows: Rows): void {
  const { graph, shape, arithmetic } = context;
  const inner = arithmetic.readExactly(rows, linearOf(context, "head.0", shape.hidden, shape.hidden));
  const score = linear(graph, linearOf(context, "head.2", shape.hidden, 1), graph.node("Gelu", [inner]));
  graph.node("Reshape", [score, graph.integers(-1)], {}, TOKEN_TREE_IO.scores);
  graph.output(TOKEN_TREE_IO.scores, "float32", ["pairs"]);
}

function linearOf({ weights }: Context, name: string, inputs: number, outputs: number): Linear {
  return {
    weight: weights.float32(`${name}.weight`, [outputs, inputs]),
    bias: weights.float32(`${name}.bias`, [outputs]),
  };
}

function normOf({ weights, shape }: Context, name: string): Norm {
  return {
    gain: weights.float32(`${name}.weight`, [shape.hidden]),
    bias: weights.float32(`${name}.bias`, [shape.hidden]),
  };
}
