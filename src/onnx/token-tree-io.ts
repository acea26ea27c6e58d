import type { ElementType } from "./file/graph-builder.ts";
import type { Int8Rows } from "./layers/int8-rows.ts";

export interface TokenTreeShape {
  readonly vocab: number;
  readonly hidden: number;
  readonly heads: number;
  readonly inner: number;
  readonly layers: number;
  readonly positions: number;
  readonly layerNormEpsilon: number;
}

/** A weight in float32, the bits of float16, or the int8 rows of one that is stored so. */
export interface Weights {
  float32(name: string, shape: readonly number[]): Float32Array;
  float16(name: string, shape: readonly number[]): Uint16Array;
  int8(name: string, shape: readonly number[]): Int8Rows | undefined;
}

/** Names of the graph's inputs and outputs; `layer` counts from 0. */
export const TOKEN_TREE_IO = {
  ids: "ids", // int32 [tokens]
  positions: "positions", // int32 [tokens]
  segments: "segments", // int32 [tokens]: 0 state, 1 question, 2 candidate
  split: "split", // int64 [2]: new tokens that belong to the prefix, and the others
  chunks: "chunks", // int64 []: number of query chunks
  chunkSize: "chunk_size", // int64 [1]: queries of a chunk; chunks * chunk size = tokens
  isSmall: "is_small", // bool []: only new keys, one chunk, and no keys and values requested, so these outputs are omitted
  hasPrefix: "has_prefix", // bool []: there is a prefix, which every query sees
  prefixIsPast: "prefix_is_past", // bool []: the prefix was encoded earlier; otherwise all of it is new
  queryNodes: "query_nodes", // int32 [tokens, 3]: numbers of the nodes that the token attends to
  restNodes: "rest_nodes", // int32 [rest keys]
  readAt: "read_at", // int64 [pairs], at least two: tokens whose hidden states are scored
  pastKeys: (block: "prefix" | "rest", layer: number) => `past_${block}_keys_${layer}`, // [heads, size, past]
  pastValues: (block: "prefix" | "rest", layer: number) => `past_${block}_values_${layer}`, // [heads, past, size]
  scores: "scores", // float32 [pairs]
  vectors: "vectors", // float32 [pairs, hidden]: what the head reads; only of a graph that is built with it
  // of the new tokens of the prefix, float32 [heads, size, tokens] and [heads, tokens, size]
  prefixKeys: (layer: number) => `prefix_keys_${layer}`,
  prefixValues: (layer: number) => `prefix_values_${layer}`,
  // of the other new tokens
  keys: (layer: number) => `keys_${layer}`,
  values: (layer: number) => `values_${layer}`,
} as const;

/** An input or output of a graph; a size that is a text varies. */
export interface TensorFacts {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly (number | string)[];
}

/**
 * Names of the inputs and outputs of the encoder's graph that holds whole trees: for servers that keep no keys and
 * values. Every input has a dimension and an element at least, because servers refuse others.
 */
export const WHOLE_TREE_IO = {
  ids: TOKEN_TREE_IO.ids,
  positions: TOKEN_TREE_IO.positions,
  segments: TOKEN_TREE_IO.segments,
  queryNodes: TOKEN_TREE_IO.queryNodes,
  readAt: TOKEN_TREE_IO.readAt,
  split: TOKEN_TREE_IO.split, // int64 [3]: tokens of a long state, of what stands above a long question's candidates, and the others
  chunks: TOKEN_TREE_IO.chunks, // int64 [2]: number of query chunks of the others (of all without a long question), and their size
  aboveChunks: "above_chunks", // int64 [2]: the same of the tokens before the others, with a long question; the last chunk may be shorter
  scores: TOKEN_TREE_IO.scores,
  vectors: TOKEN_TREE_IO.vectors,
  digest: "digest", // uint8 [32]: SHA-256 of what the graph was made of
} as const;

/** The tensors of that graph. */
export function wholeTreeTensors(hidden: number): {
  readonly inputs: readonly TensorFacts[];
  readonly outputs: readonly TensorFacts[];
} {
  const IO = WHOLE_TREE_IO;
  return {
    inputs: [
      { name: IO.ids, type: "int32", shape: ["tokens"] },
      { name: IO.positions, type: "int32", shape: ["tokens"] },
      { name: IO.segments, type: "int32", shape: ["tokens"] },
      { name: IO.queryNodes, type: "int32", shape: ["tokens", 3] },
      { name: IO.readAt, type: "int64", shape: ["pairs"] },
      { name: IO.split, type: "int64", shape: [3] },
      { name: IO.chunks, type: "int64", shape: [2] },
      { name: IO.aboveChunks, type: "int64", shape: [2] },
    ],
    outputs: scoreTensors(hidden),
  };
}

/** The outputs of a graph that holds whole trees. */
export function scoreTensors(hidden: number): readonly TensorFacts[] {
  return [
    { name: WHOLE_TREE_IO.scores, type: "float32", shape: ["pairs"] },
    { name: WHOLE_TREE_IO.vectors, type: "float32", shape: ["pairs", hidden] },
    { name: WHOLE_TREE_IO.digest, type: "uint8", shape: [32] },
  ];
}
