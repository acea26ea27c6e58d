import { type Node, nodesAbove } from "../../inference/nodes.ts";
import { TOKEN_TREE_IO as IO, type TokenTreeShape } from "../../onnx/token-tree-io.ts";
import {
  type Forward,
  type ForwardTask,
  keyCount,
  newNodes,
  pastNodes,
  scoredNodes,
  tokenCount,
} from "./forward.ts";
import { joinTokens, type KeyValueShape, type KeyValues } from "./key-values.ts";
import { bool, float32, int32, int64, type TensorData } from "./tensor-data.ts";

/**
 * Maximum size of a chunk's [heads, queries, keys] tensor, so that the longest state needs no more memory than a short one.
 * With 400,000, processor time grows by 5 to 10 % (measured), because each product packs the keys again.
 */
const CHUNK_NUMBERS = 2_000_000;
/** Node number of padding tokens, which see only themselves. Real nodes count from 1; 0 means none. */
export const FILLER = -1;

export interface ForwardInputs {
  readonly feeds: Readonly<Record<string, TensorData>>;
  /** First position of each new node among the new tokens. */
  readonly begins: ReadonlyMap<Node, number>;
  /** Number of tokens in the outputs of the new prefix, if known before the graph runs. */
  readonly prefixTokens?: number;
}

/** The graph's inputs for one forward. */
export function forwardInputs(
  { forward, wanted }: ForwardTask,
  shape: TokenTreeShape,
  known: (node: Node) => KeyValues,
): ForwardInputs {
  const { numbers, real, chunks, chunkSize } = layOut(forward, shape.heads);
  const tokens = chunks * chunkSize;
  const { feeds, begins } = newTokenInputs(forward, shape, tokens, numbers);
  const prefixTokens = tokenCount(forward.newPrefix);
  return {
    feeds: {
      ...feeds,
      [IO.chunks]: int64([chunks], []),
      [IO.chunkSize]: int64([chunkSize]),
      [IO.isSmall]: bool(chunks === 1 && wanted.length === 0 && hasNewRestOnly(forward)),
      [IO.hasPrefix]: bool(prefixTokens > 0 || forward.pastPrefix.length > 0),
      [IO.prefixIsPast]: bool(prefixTokens === 0),
      [IO.split]: int64([prefixTokens, tokens - prefixTokens]),
      [IO.restNodes]: keyNodes([...forward.pastRest, ...forward.newRest], numbers, tokens - real),
      ...past("prefix", forward.pastPrefix.map(known), keyValueShape(shape)),
      ...past("rest", forward.pastRest.map(known), keyValueShape(shape)),
    },
    begins,
    prefixTokens,
  };
}

/** Inputs that describe a forward's new tokens, for all graphs of the encoder. @param tokens number of tokens with padding */
export function newTokenInputs(
  forward: Forward,
  shape: TokenTreeShape,
  tokens: number,
  numbers: ReadonlyMap<Node, number>,
): ForwardInputs {
  const fresh = newNodes(forward);
  const begins = new Map<Node, number>();
  let at = 0;
  for (const node of fresh) {
    begins.set(node, at);
    at += node.tokens.length;
  }
  const places = scoredNodes(forward).map((node) => begins.get(node) ?? 0);
  return {
    feeds: {
      ...packedTokens(fresh, tokens, shape.positions),
      [IO.queryNodes]: int32(queryNodes(fresh, numbers, tokens), [tokens, 3]),
      [IO.readAt]: int64(readAt(places, tokens - 1)),
    },
    begins,
  };
}

/**
 * Layout of a forward: the new nodes in order, a number per node, the new tokens without padding, and the query chunks.
 *
 * @param multiple see `cutQueries`
 */
export function layOut(forward: Forward, heads: number, multiple = 1) {
  const fresh = newNodes(forward);
  const real = tokenCount(fresh);
  const numbers = numberNodes([...pastNodes(forward), ...fresh]);
  return { fresh, numbers, real, ...cutQueries(real, longestChunk(forward, heads), multiple) };
}

/** Maximum number of queries in a chunk. */
export function longestChunk(forward: Forward, heads: number): number {
  return Math.max(SHORTEST_CHUNK, Math.ceil(CHUNK_NUMBERS / (keyCount(forward) * heads)));
}

const hasNewRestOnly = (forward: Forward) => pastNodes(forward).length + forward.newPrefix.length === 0;

export function keyValueShape({ layers, heads, hidden }: TokenTreeShape): KeyValueShape {
  return { layers, heads, size: hidden / heads, valueSize: hidden / heads };
}

/**
 * Splits queries into equal chunks of at most `longest`. At least one query is padding, so that no block of keys is empty.
 * No chunk has a single query, because a matrix of one row uses another kernel.
 *
 * @param multiple the size of a chunk is a multiple of this, and at least twice as large
 */
export function cutQueries(
  tokens: number,
  longest: number,
  multiple = 1,
): { chunks: number; chunkSize: number } {
  const chunks = Math.ceil((tokens + 1) / Math.max(longest, SHORTEST_CHUNK));
  return { chunks, chunkSize: Math.max(2, Math.ceil((tokens + 1) / chunks / multiple)) * multiple };
}
/** Chosen: with fewer rows, the loop costs more than it saves. */
const SHORTEST_CHUNK = 16;

/** Token ids, positions and segments of the new nodes, followed by padding. */
function packedTokens(nodes: readonly Node[], tokens: number, positions: number): Record<string, TensorData> {
  const ids = new Int32Array(tokens);
  const places = new Int32Array(tokens);
  const segments = new Int32Array(tokens);
  let at = 0;
  for (const node of nodes) {
    ids.set(node.tokens, at);
    for (let i = 0; i < node.tokens.length; i++) places[at + i] = i % positions;
    segments.fill(node.level, at, at + node.tokens.length);
    at += node.tokens.length;
  }
  return { [IO.ids]: int32(ids), [IO.positions]: int32(places), [IO.segments]: int32(segments) };
}

export function numberNodes(nodes: readonly Node[]): ReadonlyMap<Node, number> {
  return new Map(nodes.map((node, i) => [node, i + 1]));
}

/** [tokens, 3] for each new token, its own node and those above it */
export function queryNodes(
  nodes: readonly Node[],
  numbers: ReadonlyMap<Node, number>,
  tokens: number,
): Int32Array {
  const all = new Int32Array(tokens * 3);
  let at = 0;
  for (const node of nodes) {
    const visible = [node, ...nodesAbove(node)].map((seen) => numbers.get(seen) ?? 0);
    for (const _ of node.tokens) {
      all.set(visible, at);
      at += 3;
    }
  }
  return all.fill(FILLER, at);
}

function keyNodes(nodes: readonly Node[], numbers: ReadonlyMap<Node, number>, fillers: number): TensorData {
  const all = new Int32Array(tokenCount(nodes) + fillers);
  let at = 0;
  for (const node of nodes) {
    all.fill(numbers.get(node) ?? 0, at, at + node.tokens.length);
    at += node.tokens.length;
  }
  return int32(all.fill(FILLER, at));
}

/** At least two: a matrix of one row uses another kernel with another order of summation. */
function readAt(places: readonly number[], fillerToken: number): number[] {
  return places.length >= 2 ? [...places] : [...places, fillerToken, fillerToken];
}

/** Keys and values of nodes encoded earlier, for each layer. */
export function past(
  block: "prefix" | "rest",
  nodes: readonly KeyValues[],
  { heads, size, valueSize, layers }: KeyValueShape,
): Record<string, TensorData> {
  const tokens = nodes.reduce((sum, node) => sum + node.tokens, 0);
  const join = (which: "keys" | "values", layer: number, outer: number, dims: readonly number[]) => {
    const tensors = nodes.map((node) => node[which][layer] ?? new Float32Array(0));
    return float32(joinTokens(tensors, outer), dims);
  };
  const tensorsOf = (layer: number) => ({
    keys: join("keys", layer, heads * size, [heads, size, tokens]),
    values: join("values", layer, heads, [heads, tokens, valueSize]),
  });
  const none = nodes.length === 0 ? tensorsOf(0) : undefined; // shared by all layers: creating one takes 2 us
  const feeds: Record<string, TensorData> = {};
  for (let layer = 0; layer < layers; layer++) {
    const { keys, values } = none ?? tensorsOf(layer);
    feeds[IO.pastKeys(block, layer)] = keys;
    feeds[IO.pastValues(block, layer)] = values;
  }
  return feeds;
}
