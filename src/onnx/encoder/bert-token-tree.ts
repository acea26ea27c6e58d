import { GraphBuilder, type Value, type WeightsFile } from "../file/graph-builder.ts";
import { arithmetic, type Norm, type Rows } from "../layers/arithmetic.ts";
import { type Linear, linear, type Multiplication } from "../layers/linear.ts";
import {
  TOKEN_TREE_IO,
  type TokenTreeShape,
  type Weights,
  WHOLE_TREE_IO,
  wholeTreeTensors,
} from "../token-tree-io.ts";
import { layerWeights } from "./layer-weights.ts";
import { attention, visibility } from "./token-tree-attention.ts";
import type { Context, RunContext } from "./token-tree-context.ts";
import { wholeAttention, wholeTrees } from "./whole-attention.ts";

/**
 * The graph of the token-tree encoder: BERT layers whose attention follows state -> question -> candidate.
 *
 * One run encodes `tokens` new tokens of any number of nodes, packed without padding. Nodes encoded earlier enter as
 * keys and values. Every query attends to one or two blocks of keys:
 *
 *                   prefix                              rest
 *              ┌──────────────┬──────────────────────────────────────────────────┐
 *     keys     │ a long state,│ encoded earlier │ new: short states, questions,  │
 *              │ new or not   │                 │ candidates, padding            │
 *              └──────────────┴──────────────────────────────────────────────────┘
 *     queries   the new ones of all these
 *
 * Every query attends to the whole prefix. In the rest, node numbers decide: a query has the numbers of its state, its
 * question and its own node, a key has the number of its node.
 *
 * Scores are bit-identical in every batch for these reasons:
 *
 *   - Over the rest, softmax is written out as a fixed sequence of additions. Masked keys have the weight 0, and adding
 *     0 changes nothing. A column of ones sums the weights in the same matrix product as the weighted values.
 *   - A matrix product sums along the keys in order, within 256 keys (MLAS splits longer sums). planner.ts in
 *     src/backends/onnx/forwards forms forwards within that bound.
 *   - The prefix is the same for all queries of a forward.
 *   - 8-bit products are sums of integers, exact in any order. A row is rounded by its own numbers only.
 *
 * @param weightsFile receives the large constants
 * @param hasVectors  whether the encoder's output at the scored tokens is an output too
 * @returns the bytes of an ONNX file for these weights
 */
export function buildTokenTree(
  shape: TokenTreeShape,
  weights: Weights,
  form: Multiplication,
  weightsFile?: WeightsFile,
  hasVectors = false,
): Uint8Array {
  const graph = new GraphBuilder(weightsFile);
  const context: RunContext = {
    ...modelContext(graph, shape, weights, form),
    readAt: graph.input(TOKEN_TREE_IO.readAt, "int64", ["pairs"]),
    split: graph.input(TOKEN_TREE_IO.split, "int64", [2]),
    isSmall: graph.input(TOKEN_TREE_IO.isSmall, "bool", []),
    hasPrefix: graph.input(TOKEN_TREE_IO.hasPrefix, "bool", []),
    prefixIsPast: graph.input(TOKEN_TREE_IO.prefixIsPast, "bool", []),
    chunks: {
      count: graph.input(TOKEN_TREE_IO.chunks, "int64", []),
      size: graph.input(TOKEN_TREE_IO.chunkSize, "int64", [1]),
    },
  };
  const tokens = {
    ids: graph.input(TOKEN_TREE_IO.ids, "int32", ["tokens"]),
    positions: graph.input(TOKEN_TREE_IO.positions, "int32", ["tokens"]),
    segments: graph.input(TOKEN_TREE_IO.segments, "int32", ["tokens"]),
  };
  const mask = visibility(
    graph,
    graph.input(TOKEN_TREE_IO.queryNodes, "int32", ["tokens", 3]),
    graph.input(TOKEN_TREE_IO.restNodes, "int32", ["rest_keys"]),
  );
  const rows = encoder(context, tokens, (layer, rows, isLast) =>
    attention(context, layer, rows, isLast, mask),
  );
  head(context, rows);
  if (hasVectors) vectors(context, rows);
  return graph.build("token-tree");
}

/**
 * The same encoder as a graph that holds whole trees: nothing enters from earlier runs, and no keys and values leave
 * it. The bits of a pair's score are the same.
 *
 * @param digest SHA-256 of what it is made of, an output of the graph
 */
export function buildWholeTree(
  shape: TokenTreeShape,
  weights: Weights,
  form: Multiplication,
  digest: Uint8Array,
  weightsFile?: WeightsFile,
): Uint8Array {
  const graph = new GraphBuilder(weightsFile);
  const { inputs } = wholeTreeTensors(shape.hidden);
  for (const { name, type, shape } of inputs) graph.input(name, type, shape);
  const context: Context = { ...modelContext(graph, shape, weights, form), readAt: WHOLE_TREE_IO.readAt };
  const whole = wholeTrees(graph);
  const rows = encoder(context, WHOLE_TREE_IO, (layer, rows, isLast) =>
    wholeAttention(context, whole, layer, rows, isLast),
  );
  head(context, rows);
  vectors(context, rows);
  graph.node("Identity", [graph.constant("uint8", [digest.length], digest)], {}, WHOLE_TREE_IO.digest);
  graph.output(WHOLE_TREE_IO.digest, "uint8", [digest.length]);
  return graph.build("whole-token-tree");
}

function modelContext(graph: GraphBuilder, shape: TokenTreeShape, weights: Weights, form: Multiplication) {
  return {
    graph,
    shape,
    weights: layerWeights(weights, shape),
    arithmetic: arithmetic(form, graph, shape.layerNormEpsilon),
    headSize: shape.hidden / shape.heads,
  };
}

/** int32 [tokens] each. */
interface Tokens {
  readonly ids: Value;
  readonly positions: Value;
  readonly segments: Value;
}

/** [tokens, hidden] -> [queries, hidden], before the output projection */
type Attend = (layer: number, rows: Rows, isLast: boolean) => Value;

/** @returns [pairs, hidden] */
function encoder(context: Context, tokens: Tokens, attend: Attend): Rows {
  let rows = context.arithmetic.normalise(embeddings(context, tokens), normOf(context, "ln"));
  for (let layer = 0; layer < context.shape.layers; layer++)
    rows = encoderLayer(context, layer, rows, attend);
  return rows;
}

/** Word + position + segment. @returns [tokens, hidden] */
function embeddings({ graph, shape, weights }: Context, tokens: Tokens): Value {
  const { vocab, hidden, positions } = shape;
  const word = words(graph, weights, [vocab, hidden], tokens.ids);
  const places = weights.float32("pos.weight", [positions, hidden]);
  const kinds = weights.float32("seg.weight", [3, hidden]);
  const place = graph.node("Gather", [
    graph.constant("float32", [positions, hidden], places),
    tokens.positions,
  ]);
  const kind = graph.node("Gather", [graph.constant("float32", [3, hidden], kinds), tokens.segments]);
  const sum = graph.node("Add", [word, place]);
  return graph.node("Add", [sum, kind]);
}

/**
 * Scales of a cache line. ONNX Runtime stores packed weights one right after the other, and its kernels need them to begin
 * with a line: after a constant of another length, the first product ended the process.
 */
const SCALES_OF_LINE = 64 / Float32Array.BYTES_PER_ELEMENT;

/** The words' rows. @param shape [vocab, hidden] @returns float32 [tokens, hidden] */
export function words(
  graph: GraphBuilder,
  weights: Weights,
  shape: readonly [number, number],
  ids: Value,
): Value {
  const rows = weights.int8("word.weight", shape);
  const table = rows
    ? graph.constant("int8", shape, rows.values)
    : graph.constant("float16", shape, weights.float16("word.weight", shape));
  const found = graph.node("Cast", [graph.node("Gather", [table, ids])], { to: 1 });
  if (!rows) return found;
  const scales = new Float32Array(Math.ceil(shape[0] / SCALES_OF_LINE) * SCALES_OF_LINE);
  scales.set(rows.scales);
  const each = graph.node("Gather", [graph.constant("float32", [scales.length, 1], scales), ids]);
  return graph.node("Mul", [found, each]);
}

/**
 * Attention and feed-forward, each with residual and normalization. [tokens, hidden] -> the same. The last layer keeps
 * only the tokens that are scored: [pairs, hidden].
 */
function encoderLayer(context: Context, layer: number, rows: Rows, attend: Attend): Rows {
  const { graph, shape, arithmetic } = context;
  const { hidden, inner } = shape;
  const name = `layers.${layer}`;
  const isLast = layer === shape.layers - 1;
  const kept = isLast ? arithmetic.pick(rows, context.readAt) : rows;
  const seen = attend(layer, rows, isLast);
  const out = linearOf(context, `${name}.out`, hidden, hidden);
  const rotation = arithmetic.rotationOf(context.headSize);
  const middle = arithmetic.add(kept, out, seen, normOf(context, `${name}.ln1`), rotation);
  const up = arithmetic.read(middle, linearOf(context, `${name}.up`, hidden, inner));
  const down = linearOf(context, `${name}.down`, inner, hidden);
  return arithmetic.add(middle, down, graph.node("Gelu", [up]), normOf(context, `${name}.ln2`));
}

/** Score of each pair. [pairs, hidden] -> [pairs] */
function head(context: Context, rows: Rows): void {
  const { graph, shape, arithmetic } = context;
  const inner = arithmetic.readExactly(rows, linearOf(context, "head.0", shape.hidden, shape.hidden));
  const score = linear(graph, linearOf(context, "head.2", shape.hidden, 1), graph.node("Gelu", [inner]));
  graph.node("Reshape", [score, graph.integers(-1)], {}, TOKEN_TREE_IO.scores);
  graph.output(TOKEN_TREE_IO.scores, "float32", ["pairs"]);
}

/** The same rows as an output. */
function vectors({ graph, shape, arithmetic }: Context, rows: Rows): void {
  graph.node("Identity", [arithmetic.plain(rows)], {}, TOKEN_TREE_IO.vectors);
  graph.output(TOKEN_TREE_IO.vectors, "float32", ["pairs", shape.hidden]);
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
