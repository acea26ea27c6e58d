import type { GraphBuilder, Value } from "../file/graph-builder.ts";
import type { Arithmetic } from "../layers/arithmetic.ts";
import type { TokenTreeShape, Weights } from "../token-tree-io.ts";

/** Shared by all layers. */
export interface Context {
  readonly graph: GraphBuilder;
  readonly shape: TokenTreeShape;
  readonly weights: Weights;
  readonly arithmetic: Arithmetic;
  readonly headSize: number;
  readonly readAt: Value;
}

/** How queries are split. */
export interface Chunks {
  readonly count: Value; // int64 []
  readonly size: Value; // int64 [1]
}

/** Of a graph whose runs take and give keys and values. */
export interface RunContext extends Context {
  readonly split: Value;
  readonly isSmall: Value;
  readonly hasPrefix: Value;
  readonly prefixIsPast: Value;
  readonly chunks: Chunks;
}
