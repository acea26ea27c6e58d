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
  readonly split: Value;
  readonly readAt: Value;
  readonly isSmall: Value;
  readonly hasPrefix: Value;
  readonly prefixIsPast: Value;
  readonly chunks: Value;
  readonly chunkSize: Value;
}
