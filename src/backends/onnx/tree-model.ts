import type { Gemma3Shape } from "../../onnx/gemma3-io.ts";
import type { TokenTreeShape } from "../../onnx/token-tree-io.ts";
import { threadParts } from "./causal-keys.ts";
import { causalInputs, causalKeyValueShape } from "./causal-tensors.ts";
import { type Forward, LONE_REST_TOKENS, type Node, REST_TOKENS } from "./forward-plan.ts";
import { type ForwardInputs, forwardInputs, keyValueShape } from "./forward-tensors.ts";
import type { KeyValueShape, KeyValues } from "./key-values.ts";

export type TreeShape = TokenTreeShape | Gemma3Shape;

/** What the runner has to know of a token-tree graph. */
export interface TreeModel {
  readonly keyValues: KeyValueShape;
  /** Threads of a run: no more than leave the bits as they are. */
  readonly threads: number;
  /** Most tokens that stand together in a forward without prefix. */
  readonly loneRest: number;
  inputs(forward: Forward, known: (node: Node) => KeyValues): ForwardInputs;
}

/**
 * @param threads         that may be used
 * @param piecesPerThread see work-split.ts
 */
export function treeModel(shape: TreeShape, threads: number, piecesPerThread = 1): TreeModel {
  if ("type" in shape) {
    const parts = threadParts(shape, threads * piecesPerThread);
    return {
      keyValues: causalKeyValueShape(shape),
      threads,
      loneRest: REST_TOKENS,
      inputs: (forward, known) => causalInputs(forward, shape, parts, known),
    };
  }
  return {
    keyValues: keyValueShape(shape),
    // with more pieces than heads, MLAS would cut one head's product and so add up in another order
    threads: Math.min(threads, Math.max(1, Math.floor(shape.heads / piecesPerThread))),
    loneRest: LONE_REST_TOKENS,
    inputs: (forward, known) => forwardInputs(forward, shape, known),
  };
}
