import { GraphBuilder, type Value, type WeightsFile } from "../file/graph-builder.ts";
import { type Linear, linear, type Multiplication, rotateOutputs } from "../layers/linear.ts";
import { type RowArithmetic, rowArithmetic } from "../layers/row-arithmetic.ts";
import { withOnes } from "../layers/softmax-sum.ts";
import { WHOLE_TREE_IO } from "../token-tree-io.ts";
import { type AttentionContext, causalAttention } from "./causal-attention.ts";
import { causalMasks, type DeclareInput } from "./causal-masks.ts";
import {
  type Gemma3Shape,
  type Gemma3Weights,
  GEMMA3_IO as IO,
  type LayerKind,
  wholeGemma3Tensors,
} from "./gemma3-io.ts";
import { rotaryTables } from "./rotary.ts";

interface Context extends AttentionContext {
  readonly weights: Gemma3Weights;
  readonly ids: Value; // [tokens]
  readonly arithmetic: RowArithmetic;
  readonly positions: Value; // [tokens, 1]
  readonly rotary: Readonly<Record<LayerKind, { readonly cosines: Value; readonly sines: Value }>>;
}

/**
 * The graph of a gemma3_text model with a scoring head, over a token tree whose paths are read from left to right:
 *
 *     positions   0 1 2 3 4   5 6 7   8 9                 a path continues where the node above it ends;
 *                                                         a query sees its own path up to itself, in
 *     state       ■ ■ ■ ■ ■                               sliding layers only the last `window` tokens
 *     question              └ ■ ■ ■                       of it; the score is read at a candidate's
 *     candidate                     ├ ■ ■                 last token
 *     candidate                     └ ■ ■ ■
 *
 * Forwards, the two blocks of keys and the reasons for bit-identical scores are those of
 * src/onnx/encoder/bert-token-tree.ts. Sums over keys are split every 128 keys (src/backends/tensors/causal-keys.ts).
 * Keys are stored after rotation.
 *
 * @param weightsFile receives the large constants
 * @param hasVectors  whether the rows that the head reads are an output too
 * @returns the bytes of an ONNX file for these weights
 */
export function buildGemma3TokenTree(
  shape: Gemma3Shape,
  weights: Gemma3Weights,
  form: Multiplication,
  weightsFile?: WeightsFile,
  hasVectors = false,
): Uint8Array {
  const graph = new GraphBuilder(weightsFile);
  decoder(makeContext(graph, shape, weights, form, graph.input.bind(graph)), hasVectors);
  return graph.build("gemma3-token-tree");
}

/**
 * The same model as a graph that holds whole trees: nothing enters from earlier runs, and no keys and values leave it.
 *
 * @param digest SHA-256 of what it is made of, an output of the graph
 */
export function buildWholeGemma3(
  shape: Gemma3Shape,
  weights: Gemma3Weights,
  form: Multiplication,
  digest: Uint8Array,
  weightsFile?: WeightsFile,
): Uint8Array {
  const graph = new GraphBuilder(weightsFile);
  for (const { name, type, shape: dims } of wholeGemma3Tensors(shape).inputs) graph.input(name, type, dims);
  const input: DeclareInput = (name, _type, { length }) =>
    length === 0 ? graph.node("Reshape", [name, graph.integers()]) : name;
  const context = makeContext(graph, shape, weights, form, input);
  decoder({ ...context, zeros: zerosBeforeNew(context) }, true);
  graph.node("Identity", [graph.constant("uint8", [digest.length], digest)], {}, WHOLE_TREE_IO.digest);
  graph.output(WHOLE_TREE_IO.digest, "uint8", [digest.length]);
  return graph.build("whole-gemma3-token-tree");
}

function decoder(context: Context, hasVectors: boolean): void {
  let hidden = embeddings(context);
  for (let layer = 0; layer < context.shape.layers.length; layer++)
    hidden = decoderLayer(context, layer, hidden);
  head(context, hidden, hasVectors);
}

/** Keys and values of zeros: as many as a block has keys beside the new ones. */
function zerosBeforeNew({ graph, shape: { kvHeads, headSize }, split }: Context) {
  const [prefix, rest] = graph.splitInTwo(split, graph.integers(1, 1), 0);
  const block = (nodes: Value, fresh: Value) => {
    const count = graph.node("Sub", [graph.node("Shape", [nodes]), fresh]);
    const zeros = (...dims: (number | Value)[]) => {
      const sizes = dims.map((size) => (typeof size === "number" ? graph.integers(size) : size));
      return graph.node("ConstantOfShape", [graph.node("Concat", sizes, { axis: 0 })]);
    };
    return { keys: zeros(kvHeads, headSize, count), values: zeros(kvHeads, count, headSize + 1) };
  };
  return { prefix: block(IO.prefixNodes, prefix), rest: block(IO.restNodes, rest) };
}

function makeContext(
  graph: GraphBuilder,
  shape: Gemma3Shape,
  weights: Gemma3Weights,
  form: Multiplication,
  input: DeclareInput,
): Context {
  const positions = input(IO.positions, "int64", ["tokens"]);
  const masks = causalMasks(graph, shape, positions, input);
  const layerInputs = (kind: LayerKind) => ({
    masks: masks[kind],
    seesPrefix: input(IO.seesPrefix(kind), "bool", []),
    prefixFrom: input(IO.prefixFrom(kind), "int64", ["chunks"]),
    prefixTo: input(IO.prefixTo(kind), "int64", ["chunks"]),
  });
  const chunkSize = input(IO.chunkSize, "int64", [1]);
  const readAt = input(IO.readAt, "int64", ["pairs"]);
  const byHead = (queries: Value) =>
    graph.node("Concat", [graph.integers(shape.heads), queries, graph.integers(-1)], { axis: 0 });
  const partsRank = shape.kvHeads === 1 ? 3 : 4;
  return {
    graph,
    shape,
    weights,
    ids: input(IO.ids, "int32", ["tokens"]),
    arithmetic: rowArithmetic(graph, form),
    split: input(IO.split, "int64", [2]),
    readAt,
    prefixIsPast: input(IO.prefixIsPast, "bool", []),
    chunks: input(IO.chunks, "int64", []),
    chunkSize,
    chunkShapes: { byHead: byHead(chunkSize), byPart: input(IO.chunkParts, "int64", [partsRank]) },
    readShapes: {
      byHead: byHead(graph.node("Shape", [readAt])),
      byPart: input(IO.readParts, "int64", [partsRank]),
    },
    layers: { full: layerInputs("full"), sliding: layerInputs("sliding") },
    positions: graph.node("Unsqueeze", [positions, graph.integers(1)]),
    rotary: { full: rotary(graph, shape, "full"), sliding: rotary(graph, shape, "sliding") },
  };
}

function rotary(graph: GraphBuilder, { ropeTheta, headSize, positions }: Gemma3Shape, kind: LayerKind) {
  const { cosines, sines } = rotaryTables(ropeTheta[kind], headSize, positions);
  const dimensions = [positions, headSize / 2];
  return {
    cosines: graph.constant("float32", dimensions, cosines),
    sines: graph.constant("float32", dimensions, sines),
  };
}

/** Word embeddings times the square root of their size. @returns [tokens, hidden] */
function embeddings({ graph, shape: { vocab, hidden }, weights, ids }: Context): Value {
  const table = weights.stored("embed_tokens", [vocab, hidden]);
  const words = graph.node("Gather", [graph.constant(table.type, [vocab, hidden], table), ids]);
  return graph.node("Mul", [
    graph.node("Cast", [words], { to: 1 }),
    graph.floats([1], Math.fround(Math.sqrt(hidden))),
  ]);
}

/**
 * Attention and feed-forward, each between two normalizations and with a residual. [tokens, hidden] -> the same. The
 * last layer keeps only the scored tokens: [pairs, hidden].
 */
function decoderLayer(context: Context, layer: number, hidden: Value): Value {
  const { graph, shape, arithmetic } = context;
  const name = `layers.${layer}`;
  const isLast = layer === shape.layers.length - 1;
  const residual = isLast ? graph.node("Gather", [hidden, context.readAt]) : hidden;
  const seen = attention(context, layer, hidden, isLast);
  const attended = normalise(context, seen, `${name}.post_attention_layernorm`);
  const middle = graph.node("Add", [residual, attended]);
  const input = normalise(context, middle, `${name}.pre_feedforward_layernorm`);
  const map = (part: string, inputs: number, outputs: number) =>
    context.weights.float32(`${name}.mlp.${part}`, [outputs, inputs]);
  const outer = arithmetic.feedForward(input, {
    gate: map("gate_proj", shape.hidden, shape.inner),
    up: map("up_proj", shape.hidden, shape.inner),
    down: map("down_proj", shape.inner, shape.hidden),
    outputs: shape.hidden,
    inner: shape.inner,
  });
  return graph.node("Add", [middle, normalise(context, outer, `${name}.post_feedforward_layernorm`)]);
}

/** [tokens, hidden] -> [queries, hidden]. Every token is a query unless `isLast`. */
function attention(context: Context, layer: number, hidden: Value, isLast: boolean): Value {
  const { graph, shape, weights, arithmetic, readAt } = context;
  const { heads, kvHeads, headSize } = shape;
  const name = `layers.${layer}`;
  const input = normalise(context, hidden, `${name}.input_layernorm`);
  const rows = arithmetic.prepare(input, shape.hidden, "finely");
  const read = isLast
    ? arithmetic.prepare(graph.node("Gather", [input, readAt]), shape.hidden, "finely")
    : rows;
  const weight = (part: string, inputs: number, outputs: number) =>
    weights.float32(`${name}.self_attn.${part}`, [outputs, inputs]);
  const width = heads * headSize;
  const queries = arithmetic.multiply(read, weight("q_proj", shape.hidden, width), width);
  const keys = arithmetic.multiply(
    rows,
    weight("k_proj", shape.hidden, kvHeads * headSize),
    kvHeads * headSize,
  );
  const rotation = arithmetic.rotationOf(headSize);
  const values = arithmetic.multiply(
    rows,
    rotatedOutputs(weight("v_proj", shape.hidden, kvHeads * headSize), kvHeads * headSize, rotation),
    kvHeads * headSize,
  );
  const turned = (x: Value, part: "q_norm" | "k_norm", count: number, places: Value, scale: number) => {
    const byHead = graph.node("Reshape", [x, graph.integers(-1, headSize)]);
    const normalised = normalise(context, byHead, `${name}.self_attn.${part}`, scale, headSize);
    return rotate(context, layer, normalised, count, places);
  };
  const places = isLast ? graph.node("Gather", [context.positions, readAt]) : context.positions;
  const asked = graph.node("Transpose", [turned(queries, "q_norm", heads, places, shape.queryScale)], {
    perm: [1, 0, 2],
  });
  const kept = graph.node("Transpose", [turned(keys, "k_norm", kvHeads, context.positions, 1)], {
    perm: [1, 2, 0],
  });
  const valued = withOnes(graph, graph.node("Reshape", [values, graph.integers(-1, kvHeads, headSize)]));
  const given = graph.node("Transpose", [valued], { perm: [1, 0, 2] });
  const seen = causalAttention(context, layer, asked, { keys: kept, values: given }, isLast);
  return arithmetic.multiply(
    arithmetic.prepareRotated(seen),
    weight("o_proj", width, shape.hidden),
    shape.hidden,
    rotation,
  );
}

/** [tokens * count, size] -> [tokens, count, size], each head rotated by its token's position */
function rotate(context: Context, layer: number, x: Value, count: number, places: Value): Value {
  const { graph, shape } = context;
  const { cosines, sines } = context.rotary[shape.layers[layer] ?? "full"];
  // each token is a sequence of its own, because a forward may have more tokens than the model has positions
  const rows = graph.node("Reshape", [x, graph.integers(-1, 1, count * shape.headSize)]);
  const turned = graph.contrib("RotaryEmbedding", [rows, places, cosines, sines], { num_heads: count });
  return graph.node("Reshape", [turned, graph.integers(-1, count, shape.headSize)]);
}

/** `weight` with its outputs rotated in blocks of `block`. */
function rotatedOutputs(weight: Float32Array, outputs: number, block: number): Float32Array {
  if (block === 1) return weight;
  return rotateOutputs({ weight, bias: new Float32Array(outputs) }, block).weight;
}

/** Division by the root mean square. The stored gain is relative to 1. [rows, size] -> the same */
function normalise(context: Context, x: Value, name: string, scale = 1, size = context.shape.hidden): Value {
  const { graph, shape, weights } = context;
  const gain = weights.float32(name, [size]).map((w) => Math.fround(1 + w) * scale);
  return rootMeanSquare(graph, x, gain, shape.normEpsilon);
}

function rootMeanSquare(graph: GraphBuilder, x: Value, gain: Float32Array, epsilon: number): Value {
  const gains = graph.constant("float32", [gain.length], gain);
  return graph.node("SimplifiedLayerNormalization", [x, gains], { axis: -1, epsilon: { float: epsilon } });
}

/** Added to the squared length before the division; smaller than that of any hidden state. */
const SMALLEST_SQUARE = 1e-24;
const HEAD_NORM_EPSILON = 1e-5;

/** Score of each pair. [pairs, hidden] -> [pairs] */
function head(context: Context, hidden: Value, hasVectors: boolean): void {
  const { graph, shape, weights } = context;
  const { hidden: size, headInner } = shape;
  const rows = normalise(context, hidden, "norm");
  // length 1: the mean square is the squared length divided by the size
  const unit = rootMeanSquare(
    graph,
    rows,
    new Float32Array(size).fill(1 / Math.sqrt(size)),
    SMALLEST_SQUARE / size,
  );
  const constant = (name: string) =>
    graph.constant("float32", [size], weights.float32(`head.norm.${name}`, [size]));
  const spread = graph.node("LayerNormalization", [unit, constant("weight"), constant("bias")], {
    axis: -1,
    epsilon: { float: HEAD_NORM_EPSILON },
  });
  const map = (name: string, inputs: number, outputs: number): Linear => ({
    weight: weights.float32(`head.${name}.weight`, [outputs, inputs]),
    bias: weights.float32(`head.${name}.bias`, [outputs]),
  });
  const inner = graph.node("Gelu", [linear(graph, map("0", size, headInner), spread)]);
  graph.node("Reshape", [linear(graph, map("1", headInner, 1), inner), graph.integers(-1)], {}, IO.scores);
  graph.output(IO.scores, "float32", ["pairs"]);
  if (!hasVectors) return;
  graph.node("Identity", [spread], {}, IO.vectors);
  graph.output(IO.vectors, "float32", ["pairs", size]);
}
