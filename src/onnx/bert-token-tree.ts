import { GraphBuilder, type Value } from "./graph-builder.ts";

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
  readonly headSize: number;
  readonly split: Value;
  readonly readAt: Value;
}

/** What the queries of a layer may see: 0, or -inf for keys that are hidden from them. */
interface Masks {
  readonly prefix: Value; // [1, tokens, prefix keys]
  readonly rest: Value; // [1, tokens, rest keys]
}

/** @returns the bytes of an ONNX file for these weights */
export function buildTokenTree(shape: TokenTreeShape, weights: Weights): Uint8Array {
  const graph = new GraphBuilder();
  const embedded = embeddings(graph, shape, weights);
  const context: Context = {
    graph,
    shape,
    weights,
    headSize: shape.hidden / shape.heads,
    split: graph.input(TOKEN_TREE_IO.split, "int64", [2]),
    readAt: graph.input(TOKEN_TREE_IO.readAt, "int64", ["pairs"]),
  };
  const masks = visibility(graph);
  let hidden = embedded;
  for (let layer = 0; layer < shape.layers; layer++) hidden = encoderLayer(context, layer, hidden, masks);
  head(context, hidden);
  return graph.build("token-tree");
}

/** Word + position + segment, normalised. @returns [tokens, hidden] */
function embeddings(graph: GraphBuilder, shape: TokenTreeShape, weights: Weights): Value {
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
  return layerNorm(graph, shape, weights, "ln", graph.node("Add", [sum, kind]));
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
function encoderLayer(context: Context, layer: number, input: Value, masks: Masks): Value {
  const { graph, shape, weights } = context;
  const name = `layers.${layer}`;
  const isLast = layer === shape.layers - 1;
  const kept = isLast ? graph.node("Gather", [input, context.readAt]) : input;
  const seen = attention(context, layer, input, isLast, masks);
  const attended = linear(context, `${name}.out`, shape.hidden, shape.hidden, seen);
  const middle = layerNorm(graph, shape, weights, `${name}.ln1`, graph.node("Add", [kept, attended]));
  const inner = graph.node("Gelu", [linear(context, `${name}.up`, shape.hidden, shape.inner, middle)]);
  const outer = linear(context, `${name}.down`, shape.inner, shape.hidden, inner);
  return layerNorm(graph, shape, weights, `${name}.ln2`, graph.node("Add", [middle, outer]));
}

/** [tokens, hidden] -> [queries, hidden], before the output projection. Every token is a query unless `isLast`. */
function attention(context: Context, layer: number, input: Value, isLast: boolean, masks: Masks): Value {
  const { graph, shape, headSize } = context;
  const { queries: all, keys, values } = project(context, layer, input);
  const kept = (value: Value) =>
    isLast ? graph.node("Gather", [value, context.readAt], { axis: 1 }) : value;
  const queries = kept(all);
  graph.output(keys, "float32", [shape.heads, "tokens", headSize]);
  graph.output(values, "float32", [shape.heads, "tokens", headSize + 1]);
  const [newPrefixKeys, newRestKeys] = graph.splitInTwo(keys, context.split, 1);
  const [newPrefixValues, newRestValues] = graph.splitInTwo(values, context.split, 1);
  const prefix = block(context, "prefix", layer, newPrefixKeys, newPrefixValues);
  const rest = block(context, "rest", layer, newRestKeys, newRestValues);

  const seen = [
    { ...prefix, affinity: affinities(graph, queries, prefix.keys, kept(masks.prefix)) },
    { ...rest, affinity: affinities(graph, queries, rest.keys, kept(masks.rest)) },
  ];
  const largest = seen
    .map(({ affinity }) => graph.node("ReduceMax", [affinity, graph.integers(2)], { keepdims: 1 }))
    .reduce((a, b) => graph.node("Max", [a, b]));
  const summed = seen
    .map(({ affinity, values }) => {
      const weight = graph.node("Exp", [graph.node("Sub", [affinity, largest])]);
      return graph.node("MatMul", [weight, values]); // [heads, tokens, size + 1]
    })
    .reduce((a, b) => graph.node("Add", [a, b]));
  const [total, weightSum] = graph.splitInTwo(summed, graph.integers(headSize, 1), 2);
  const mean = graph.node("Transpose", [graph.node("Div", [total, weightSum])], { perm: [1, 0, 2] });
  return graph.node("Reshape", [mean, graph.integers(-1, shape.hidden)]);
}

/** Query-key products of the keys that may be seen; -inf elsewhere. [heads, tokens, keys] */
function affinities(graph: GraphBuilder, queries: Value, keys: Value, mask: Value): Value {
  const transposed = graph.node("Transpose", [keys], { perm: [0, 2, 1] });
  return graph.node("Add", [graph.node("MatMul", [queries, transposed]), mask]);
}

/** A block's keys and values: those of earlier runs, then the new ones. */
function block(context: Context, which: "prefix" | "rest", layer: number, keys: Value, values: Value) {
  const { graph, shape, headSize } = context;
  const past = (name: string, size: number) =>
    graph.input(name, "float32", [shape.heads, `past_${which}_keys`, size]);
  const pastKeys = past(TOKEN_TREE_IO.pastKeys(which, layer), headSize);
  const pastValues = past(TOKEN_TREE_IO.pastValues(which, layer), headSize + 1);
  return {
    keys: graph.node("Concat", [pastKeys, keys], { axis: 1 }),
    values: graph.node("Concat", [pastValues, values], { axis: 1 }),
  };
}

/**
 * Queries (already divided by the square root of the head size), keys, and values with a column of ones.
 * [tokens, hidden] -> [heads, tokens, size], the same, [heads, tokens, size + 1]
 */
function project(context: Context, layer: number, input: Value) {
  const { graph, shape, headSize } = context;
  const { heads, hidden } = shape;
  const { weight, bias } = projectionWeights(context, `layers.${layer}.qkv`);
  const rows = bias.length;
  const all = graph.node(
    "Gemm",
    [input, graph.constant("float32", [rows, hidden], weight), graph.constant("float32", [rows], bias)],
    { transB: 1 },
  );
  const [queries, others] = graph.splitInTwo(all, graph.integers(hidden, rows - hidden), 1);
  const [keys, values] = graph.splitInTwo(others, graph.integers(hidden, rows - 2 * hidden), 1);
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
function projectionWeights({ weights, shape, headSize }: Context, name: string) {
  const { heads, hidden } = shape;
  const storedWeight = weights.float32(`${name}.weight`, [3 * hidden, hidden]);
  const storedBias = weights.float32(`${name}.bias`, [3 * hidden]);
  const weight = new Float32Array((3 * hidden + heads) * hidden);
  const bias = new Float32Array(3 * hidden + heads);
  const scale = 1 / Math.sqrt(headSize);
  let row = 0;
  const copy = (stored: number, factor: number) => {
    const from = storedWeight.subarray(stored * hidden, (stored + 1) * hidden);
    weight.set(factor === 1 ? from : from.map((x) => x * factor), row * hidden);
    bias[row++] = (storedBias[stored] ?? 0) * factor;
  };
  for (let i = 0; i < 3 * hidden; i++) {
    copy(i, i < hidden ? scale : 1);
    if (i >= 2 * hidden && (i + 1) % headSize === 0) bias[row++] = 1;
  }
  return { weight, bias };
}

/** Score of each pair. [pairs, hidden] -> [pairs] */
function head(context: Context, hidden: Value): void {
  const { graph, shape } = context;
  const inner = linear(context, "head.0", shape.hidden, shape.hidden, hidden);
  const score = linear(context, "head.2", shape.hidden, 1, graph.node("Gelu", [inner]));
  graph.node("Reshape", [score, graph.integers(-1)], {}, TOKEN_TREE_IO.scores);
  graph.output(TOKEN_TREE_IO.scores, "float32", ["pairs"]);
}

/** x W' + b for a stored weight [outputs, inputs] */
function linear({ graph, weights }: Context, name: string, inputs: number, outputs: number, x: Value): Value {
  const weight = weights.float32(`${name}.weight`, [outputs, inputs]);
  const bias = weights.float32(`${name}.bias`, [outputs]);
  return graph.node(
    "Gemm",
    [x, graph.constant("float32", [outputs, inputs], weight), graph.constant("float32", [outputs], bias)],
    { transB: 1 },
  );
}

function layerNorm(
  graph: GraphBuilder,
  shape: TokenTreeShape,
  weights: Weights,
  name: string,
  x: Value,
): Value {
  const gain = graph.constant("float32", [shape.hidden], weights.float32(`${name}.weight`, [shape.hidden]));
  const bias = graph.constant("float32", [shape.hidden], weights.float32(`${name}.bias`, [shape.hidden]));
  return graph.node("LayerNormalization", [x, gain, bias], {
    axis: -1,
    epsilon: { float: shape.layerNormEpsilon },
  });
}
