import type { ElementType, StreamedData } from "../file/graph-builder.ts";
import { TOKEN_TREE_IO } from "../token-tree-io.ts";

/** Which keys a layer's queries may see: all up to their own position, or only those of the window. */
export type LayerKind = "full" | "sliding";

export interface Gemma3Shape {
  readonly type: "gemma3";
  readonly vocab: number;
  readonly hidden: number;
  readonly heads: number;
  /** Heads of keys and values; each serves as many neighbouring heads of queries. */
  readonly kvHeads: number;
  readonly headSize: number;
  readonly inner: number;
  readonly layers: readonly LayerKind[];
  /** A sliding layer's query sees keys at `position > own position - window`. */
  readonly window: number;
  readonly normEpsilon: number;
  /** Factor of the products of queries and keys. */
  readonly queryScale: number;
  /** Base of the rotary embeddings. */
  readonly ropeTheta: Readonly<Record<LayerKind, number>>;
  /** Tokens of the longest path. */
  readonly positions: number;
  /** Width of the head's hidden layer. */
  readonly headInner: number;
}

/** A table that stays as it is stored. */
export interface StoredTable extends StreamedData {
  readonly type: Extract<ElementType, "bfloat16" | "float16" | "float32">;
}

/**
 * The weights by the names that the graph gives them: `embed_tokens`, `norm`, `layers.<n>.<part>`, `head.norm.weight`,
 * `head.norm.bias`, `head.0.weight`, `head.0.bias`, `head.1.weight`, `head.1.bias`.
 */
export interface Gemma3Weights {
  float32(name: string, shape: readonly number[]): Float32Array;
  stored(name: string, shape: readonly number[]): StoredTable;
}

/** Names of the graph's inputs and outputs: those of the encoder's graph, and what a causal model needs besides. */
export const GEMMA3_IO = {
  ...TOKEN_TREE_IO,
  positions: "positions", // int64 [tokens]: along the path
  prefixNodes: "prefix_nodes", // int32 [prefix keys]
  prefixPositions: "prefix_positions", // int64 [prefix keys]
  restPositions: "rest_positions", // int64 [rest keys]
  // bool []: every query sees every key of its part of the prefix, which then needs no mask
  seesPrefix: (kind: LayerKind) => `sees_prefix_${kind}`,
  prefixFrom: (kind: LayerKind) => `prefix_from_${kind}`, // int64 [chunks]: first key that a chunk's queries need
  prefixTo: (kind: LayerKind) => `prefix_to_${kind}`, // int64 [chunks]: and the one behind the last
  // int64 [3 or 4]: shape of a chunk's queries, of all heads, as they are shared out among threads; its last number is -1
  chunkParts: "chunk_parts",
  readParts: "read_parts", // the same for the tokens that are read
} as const;
