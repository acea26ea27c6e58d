import type { ElementType, StreamedData } from "../file/graph-builder.ts";
import { scoreTensors, type TensorFacts, TOKEN_TREE_IO } from "../token-tree-io.ts";

/** Attention type of a layer: all keys up to the query's position, or only those within the window. */
export type LayerKind = "full" | "sliding";

export interface Gemma3Shape {
  readonly type: "gemma3";
  readonly vocab: number;
  readonly hidden: number;
  readonly heads: number;
  /** Number of key-value heads. Each serves an equal number of adjacent query heads. */
  readonly kvHeads: number;
  readonly headSize: number;
  readonly inner: number;
  readonly layers: readonly LayerKind[];
  /** A sliding layer's query sees keys at `position > own position - window`. */
  readonly window: number;
  readonly normEpsilon: number;
  /** Scale of the products of queries and keys. */
  readonly queryScale: number;
  /** Base of the rotary embeddings. */
  readonly ropeTheta: Readonly<Record<LayerKind, number>>;
  /** Maximum tokens of a path. */
  readonly positions: number;
  /** Width of the head's hidden layer. */
  readonly headInner: number;
}

/** A table in stored form. */
export interface StoredTable extends StreamedData {
  readonly type: Extract<ElementType, "bfloat16" | "float16" | "float32">;
}

/**
 * The weights by the graph's names: `embed_tokens`, `norm`, `layers.<n>.<part>`, `head.norm.weight`,
 * `head.norm.bias`, `head.0.weight`, `head.0.bias`, `head.1.weight`, `head.1.bias`.
 */
export interface Gemma3Weights {
  float32(name: string, shape: readonly number[]): Float32Array;
  stored(name: string, shape: readonly number[]): StoredTable;
}

/** Names of the graph's inputs and outputs: those of the encoder's graph, and additional ones of causal models. */
export const GEMMA3_IO = {
  ...TOKEN_TREE_IO,
  positions: "positions", // int64 [tokens]: along the path
  prefixNodes: "prefix_nodes", // int32 [prefix keys]
  prefixPositions: "prefix_positions", // int64 [prefix keys]
  restPositions: "rest_positions", // int64 [rest keys]
  // bool []: every query sees every key of its part of the prefix, so no mask is needed
  seesPrefix: (kind: LayerKind) => `sees_prefix_${kind}`,
  prefixFrom: (kind: LayerKind) => `prefix_from_${kind}`, // int64 [chunks]: first key that a chunk's queries need
  prefixTo: (kind: LayerKind) => `prefix_to_${kind}`, // int64 [chunks]: the key after the last one
  // int64 [3 or 4]: shape of a chunk's queries of all heads, split for threads; its last number is -1
  chunkParts: "chunk_parts",
  readParts: "read_parts", // the same for the scored tokens
} as const;

/**
 * The tensors of the graph that holds whole trees: those of the usual one without keys and values, each with a
 * dimension at least. What stands before the new keys of a block are keys of zeros, which the graph makes itself.
 */
export function wholeGemma3Tensors({ hidden, kvHeads }: Pick<Gemma3Shape, "hidden" | "kvHeads">): {
  readonly inputs: readonly TensorFacts[];
  readonly outputs: readonly TensorFacts[];
} {
  const IO = GEMMA3_IO;
  const kinds: readonly LayerKind[] = ["full", "sliding"];
  const partsRank = kvHeads === 1 ? 3 : 4;
  return {
    inputs: [
      { name: IO.ids, type: "int32", shape: ["tokens"] },
      { name: IO.positions, type: "int64", shape: ["tokens"] },
      { name: IO.queryNodes, type: "int32", shape: ["tokens", 3] },
      { name: IO.prefixNodes, type: "int32", shape: ["prefix_keys"] },
      { name: IO.prefixPositions, type: "int64", shape: ["prefix_keys"] },
      { name: IO.restNodes, type: "int32", shape: ["rest_keys"] },
      { name: IO.restPositions, type: "int64", shape: ["rest_keys"] },
      { name: IO.readAt, type: "int64", shape: ["pairs"] },
      { name: IO.split, type: "int64", shape: [2] },
      { name: IO.chunks, type: "int64", shape: [1] },
      { name: IO.chunkSize, type: "int64", shape: [1] },
      { name: IO.chunkParts, type: "int64", shape: [partsRank] },
      { name: IO.readParts, type: "int64", shape: [partsRank] },
      { name: IO.prefixIsPast, type: "bool", shape: [1] },
      ...kinds.flatMap((kind): TensorFacts[] => [
        { name: IO.seesPrefix(kind), type: "bool", shape: [1] },
        { name: IO.prefixFrom(kind), type: "int64", shape: ["chunks"] },
        { name: IO.prefixTo(kind), type: "int64", shape: ["chunks"] },
      ]),
    ],
    outputs: scoreTensors(hidden),
  };
}
