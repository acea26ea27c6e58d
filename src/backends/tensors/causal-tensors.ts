import { type Node, pathLength } from "../../inference/nodes.ts";
import { type Gemma3Shape, GEMMA3_IO as IO, type LayerKind } from "../../onnx/causal/gemma3-io.ts";
import { keysOf, neededPrefix, putPositions, type ThreadParts } from "./causal-keys.ts";
import { type Forward, scoredNodes, tokenCount } from "./forward.ts";
import { type ForwardInputs, layOut, past, queryNodes } from "./forward-tensors.ts";
import type { KeyValueShape, KeyValues } from "./key-values.ts";
import { bool, int32, int64, type TensorData } from "./tensor-data.ts";

export function causalKeyValueShape({ layers, kvHeads, headSize }: Gemma3Shape): KeyValueShape {
  return { layers: layers.length, heads: kvHeads, size: headSize, valueSize: headSize + 1 };
}

/**
 * Inputs of the graph of src/onnx/causal/gemma3-token-tree.ts for one forward.
 *
 * @throws Error for a path that is longer than the model's positions
 */
export function causalInputs(
  forward: Forward,
  shape: Gemma3Shape,
  parts: ThreadParts,
  known: (node: Node) => KeyValues,
): ForwardInputs {
  const { pastPrefix, newPrefix, pastRest, newRest } = forward;
  const { fresh, numbers, real, ...chunking } = layOut(forward, shape.heads, parts.multiple);
  const tokens = chunking.chunks * chunking.chunkSize;
  const { ids, positions, begins } = packTokens(fresh, tokens, shape.positions);
  const newTokens = tokenCount(newPrefix);
  const prefix = keysOf(pastPrefix, newPrefix, 0, numbers);
  const rest = keysOf(pastRest, newRest, tokens - real, numbers);
  const needed = (kind: LayerKind) => {
    const nodes = [...pastPrefix, ...newPrefix];
    const ofPrefix = { nodes, keys: prefix.nodes.length, newTokens };
    return neededPrefix(kind, shape, ofPrefix, positions.subarray(0, real), chunking);
  };
  const seesAll = newTokens === 0 && prefix.padding === 0;
  const seesWindow = seesAll && positions.every((position) => position < shape.window);
  const places = scoredNodes(forward).map((node) => (begins.get(node) ?? 0) + node.tokens.length - 1);
  const readAt = [...places, ...fillerPlaces(places.length, parts.multiple, tokens - 1)];
  const [full, sliding] = [needed("full"), needed("sliding")];
  const keyValues = causalKeyValueShape(shape);
  const padded = (nodes: readonly Node[], padding: number) => [
    ...nodes.map(known),
    ...(padding > 0 ? [zeros(keyValues, padding)] : []),
  ];
  return {
    feeds: {
      [IO.ids]: int32(ids),
      [IO.positions]: int64(positions),
      [IO.split]: int64([newTokens, tokens - newTokens]),
      [IO.chunks]: int64([chunking.chunks], []),
      [IO.chunkSize]: int64([chunking.chunkSize]),
      [IO.chunkParts]: partsShape(shape, parts, chunking.chunkSize),
      [IO.readParts]: partsShape(shape, parts, readAt.length),
      [IO.prefixIsPast]: bool(newTokens === 0),
      [IO.seesPrefix("full")]: bool(seesAll),
      [IO.seesPrefix("sliding")]: bool(seesWindow),
      [IO.prefixFrom("full")]: int64(full.from),
      [IO.prefixTo("full")]: int64(full.to),
      [IO.prefixFrom("sliding")]: int64(sliding.from),
      [IO.prefixTo("sliding")]: int64(sliding.to),
      [IO.queryNodes]: int32(queryNodes(fresh, numbers, tokens), [tokens, 3]),
      [IO.prefixNodes]: int32(prefix.nodes),
      [IO.prefixPositions]: int64(prefix.positions),
      [IO.restNodes]: int32(rest.nodes),
      [IO.restPositions]: int64(rest.positions),
      [IO.readAt]: int64(readAt),
      ...past("prefix", padded(pastPrefix, prefix.padding), keyValues),
      ...past("rest", padded(pastRest, rest.padding), keyValues),
    },
    begins,
  };
}

/** Ids and positions of the new tokens, followed by padding. @throws Error for a path longer than `longest` */
function packTokens(nodes: readonly Node[], tokens: number, longest: number) {
  const ids = new Int32Array(tokens);
  const positions = new Int32Array(tokens);
  const begins = new Map<Node, number>();
  let at = 0;
  for (const node of nodes) {
    const end = pathLength(node);
    if (end > longest) throw new Error(`a pair has ${end} tokens, but the model has ${longest} positions`);
    begins.set(node, at);
    ids.set(node.tokens, at);
    putPositions(node, positions, at);
    at += node.tokens.length;
  }
  return { ids, positions, begins };
}

/** Extra padding, so that all parts are equal and none has a single row. */
function fillerPlaces(places: number, multiple: number, filler: number): number[] {
  const wanted = Math.max(2, Math.ceil(places / multiple)) * multiple;
  return Array.from({ length: wanted - places }, () => filler);
}

/** Shape of the split queries of all heads. */
function partsShape({ heads, kvHeads }: Gemma3Shape, { parts }: ThreadParts, queries: number): TensorData {
  const rows = (queries * heads) / kvHeads / parts;
  return int64([...(kvHeads === 1 ? [] : [kvHeads]), parts, rows, -1]);
}

/** Id of padding tokens, which no query sees. */
function zeros({ layers, heads, size, valueSize }: KeyValueShape, tokens: number): KeyValues {
  const each = (width: number) => {
    const array = new Float32Array(heads * tokens * width);
    return Array.from({ length: layers }, () => array);
  };
  return { tokens, keys: each(size), values: each(valueSize) };
}
