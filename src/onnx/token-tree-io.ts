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
