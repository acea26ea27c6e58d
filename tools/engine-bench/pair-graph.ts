import { words } from "../../src/onnx/encoder/bert-token-tree.ts";
import { layerWeights } from "../../src/onnx/encoder/layer-weights.ts";
import { GraphBuilder, type Value } from "../../src/onnx/file/graph-builder.ts";
import type { TokenTreeShape, Weights } from "../../src/onnx/token-tree-io.ts";

/**
 * The baseline's graph: the same encoder in float32, with each pair encoded as a whole in a padded batch.
 *
 *     [batch, length]   state state state | question question | candidate candidate | padding
 *     levels              0     0     0        1        1           2         2          3
 *
 * A token attends to its own level and the levels above, as in the token tree, so the scores are the same.
 * Optimizations that do not share work between pairs are used here too: the last layer computes only the scored token
 * of a pair, and queries, keys and values come from one product.
 */
export const PAIR_IO = {
  ids: "ids", // int32 [batch, length]
  positions: "positions", // int32 [batch, length]: from 0 in each part
  levels: "levels", // int32 [batch, length]
  readAt: "read_at", // int64 [batch]: the scored token of each pair, counted over the whole batch
  scores: "scores", // float32 [batch]
} as const;

/** Level of padding, below all others, so that no token of a pair attends to it. */
export const PADDING_LEVEL = 3;

interface Context {
  readonly graph: GraphBuilder;
  readonly shape: TokenTreeShape;
  readonly weights: Weights;
  readonly headSize: number;
  /** int64 [4]: batch, length, heads, head size. */
  readonly perHead: Value;
  readonly readAt: Value;
}

/** @returns the bytes of an ONNX file */
export function buildPairGraph(shape: TokenTreeShape, weights: Weights): Uint8Array {
  const graph = new GraphBuilder();
  const grid = ["batch", "length"];
  const ids = graph.input(PAIR_IO.ids, "int32", grid);
  const levels = graph.input(PAIR_IO.levels, "int32", grid);
  const headSize = shape.hidden / shape.heads;
  const size = graph.node("Shape", [ids]);
  const context: Context = {
    graph,
    shape,
    weights: layerWeights(weights, shape),
    headSize,
    perHead: graph.node("Concat", [size, graph.integers(shape.heads, headSize)], { axis: 0 }),
    readAt: graph.input(PAIR_IO.readAt, "int64", ["batch"]),
  };
  const embedded = embeddings(context, ids, graph.input(PAIR_IO.positions, "int32", grid), levels);
  const mask = visibility(graph, levels);
  // the last layer needs one query per pair, with the mask of the candidates
  const lastMask = graph.node("Gather", [flatRows(graph, mask), context.readAt]);
  const lastRow = graph.node("Unsqueeze", [lastMask, graph.integers(1, 2)]);
  let hidden = embedded;
  for (let layer = 0; layer < shape.layers; layer++) {
    const isLast = layer === shape.layers - 1;
    hidden = encoderLayer(context, layer, hidden, isLast ? lastRow : mask, isLast);
  }
  head(context, hidden);
  return graph.build("pairs");
}

/** Word + position + level, normalized. @returns [batch * length, hidden] */
function embeddings(context: Context, ids: Value, positions: Value, levels: Value): Value {
  const { graph, shape, weights } = context;
  const { vocab, hidden } = shape;
  const flat = (value: Value) => graph.node("Reshape", [value, graph.integers(-1)]);
  const table = (name: string, rows: number) =>
    graph.constant("float32", [rows, hidden], weights.float32(name, [rows, hidden]));
  const word = words(graph, weights, [vocab, hidden], flat(ids));
  const place = graph.node("Gather", [table("pos.weight", shape.positions), flat(positions)]);
  const two = graph.constant("int32", [1], Int32Array.of(2));
  const kind = graph.node("Gather", [table("seg.weight", 3), graph.node("Min", [flat(levels), two])]);
  return layerNorm(context, "ln", graph.node("Add", [graph.node("Add", [word, place]), kind]));
}

/**
 * Added to the logits of masked keys. Their weight is then below 1e-20, which float32 does not show. With -inf the
 * runtime's softmax is many times slower because of underflow (measured: 7 to 30 ms instead of 0.9 ms), which would be
 * unfair to the baseline.
 */
const HIDDEN = -50;

/** 0 for visible keys, HIDDEN for masked ones. @returns [batch, 1, length, length] */
function visibility(graph: GraphBuilder, levels: Value): Value {
  const keys = graph.node("Unsqueeze", [levels, graph.integers(1, 2)]);
  const queries = graph.node("Unsqueeze", [levels, graph.integers(1, 3)]);
  const sees = graph.node("LessOrEqual", [keys, queries]);
  return graph.node("Where", [sees, graph.floats([1], 0), graph.floats([1], HIDDEN)]);
}

/** [batch, 1, length, length] -> [batch * length, length] */
function flatRows(graph: GraphBuilder, mask: Value): Value {
  const length = graph.node("Gather", [graph.node("Shape", [mask]), graph.integers(3)]);
  return graph.node("Reshape", [mask, graph.node("Concat", [graph.integers(-1), length], { axis: 0 })]);
}

/** [batch * length, hidden] -> the same; the last layer keeps only the scored tokens: [batch, hidden] */
function encoderLayer(context: Context, layer: number, input: Value, mask: Value, isLast: boolean): Value {
  const { graph, shape } = context;
  const name = `layers.${layer}`;
  const kept = isLast ? graph.node("Gather", [input, context.readAt]) : input;
  const seen = attention(context, name, input, mask, isLast);
  const attended = linear(context, `${name}.out`, shape.hidden, shape.hidden, seen);
  const middle = layerNorm(context, `${name}.ln1`, graph.node("Add", [kept, attended]));
  const inner = graph.node("Gelu", [linear(context, `${name}.up`, shape.hidden, shape.inner, middle)]);
  const outer = linear(context, `${name}.down`, shape.inner, shape.hidden, inner);
  return layerNorm(context, `${name}.ln2`, graph.node("Add", [middle, outer]));
}

/** [batch * length, hidden] -> [batch * queries, hidden], before the output projection */
function attention(context: Context, name: string, input: Value, mask: Value, isLast: boolean): Value {
  const { graph, shape, headSize, perHead } = context;
  const { hidden, heads } = shape;
  const all = linear(context, `${name}.qkv`, hidden, 3 * hidden, input, scaledQueries(context, name));
  const [queries, keys, values] = graph.splitInThree(all, graph.integers(hidden, hidden, hidden), 1);
  const byHead = (value: Value, shapeOf: Value, perm: readonly number[]) =>
    graph.node("Transpose", [graph.node("Reshape", [value, shapeOf])], { perm });
  const asked = isLast
    ? byHead(
        graph.node("Gather", [queries, context.readAt]),
        graph.integers(-1, 1, heads, headSize),
        [0, 2, 1, 3],
      )
    : byHead(queries, perHead, [0, 2, 1, 3]);
  const affinity = graph.node("MatMul", [asked, byHead(keys, perHead, [0, 2, 3, 1])]);
  const weight = graph.node("Softmax", [graph.node("Add", [affinity, mask])], { axis: -1 });
  const mean = graph.node("MatMul", [weight, byHead(values, perHead, [0, 2, 1, 3])]);
  const rows = graph.node("Transpose", [mean], { perm: [0, 2, 1, 3] });
  return graph.node("Reshape", [rows, graph.integers(-1, hidden)]);
}

/** The stored projection with its queries divided by the square root of the head size. */
function scaledQueries({ weights, shape, headSize }: Context, name: string) {
  const { hidden } = shape;
  const weight = weights.float32(`${name}.qkv.weight`, [3 * hidden, hidden]);
  const bias = weights.float32(`${name}.qkv.bias`, [3 * hidden]);
  const scale = 1 / Math.sqrt(headSize);
  for (let i = 0; i < hidden * hidden; i++) weight[i] = (weight[i] ?? 0) * scale;
  for (let i = 0; i < hidden; i++) bias[i] = (bias[i] ?? 0) * scale;
  return { weight, bias };
}

/** [batch, hidden] -> [batch] */
function head(context: Context, hidden: Value): void {
  const { graph, shape } = context;
  const inner = linear(context, "head.0", shape.hidden, shape.hidden, hidden);
  const score = linear(context, "head.2", shape.hidden, 1, graph.node("Gelu", [inner]));
  graph.node("Reshape", [score, graph.integers(-1)], {}, PAIR_IO.scores);
  graph.output(PAIR_IO.scores, "float32", ["batch"]);
}

/** x W' + b for a stored weight [outputs, inputs], or its replacement */
function linear(
  { graph, weights }: Context,
  name: string,
  inputs: number,
  outputs: number,
  x: Value,
  given?: { readonly weight: Float32Array; readonly bias: Float32Array },
): Value {
  const weight = given?.weight ?? weights.float32(`${name}.weight`, [outputs, inputs]);
  const bias = given?.bias ?? weights.float32(`${name}.bias`, [outputs]);
  const constants = [
    graph.constant("float32", [outputs, inputs], weight),
    graph.constant("float32", [outputs], bias),
  ];
  return graph.node("Gemm", [x, ...constants], { transB: 1 });
}

function layerNorm({ graph, shape, weights }: Context, name: string, x: Value): Value {
  const { hidden } = shape;
  const gain = graph.constant("float32", [hidden], weights.float32(`${name}.weight`, [hidden]));
  const bias = graph.constant("float32", [hidden], weights.float32(`${name}.bias`, [hidden]));
  return graph.node("LayerNormalization", [x, gain, bias], {
    axis: -1,
    epsilon: { float: shape.layerNormEpsilon },
  });
}
