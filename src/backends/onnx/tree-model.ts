import type { Gemma3Shape } from "../../onnx/gemma3-io.ts";
import type { TokenTreeShape } from "../../onnx/token-tree-io.ts";
import { CAUSAL_KEY_BLOCK, threadParts } from "./causal-keys.ts";
import { causalInputs, causalKeyValueShape } from "./causal-tensors.ts";
import { type Forward, KEY_BLOCK, type Node } from "./forward-plan.ts";
import { type ForwardInputs, forwardInputs, keyValueShape } from "./forward-tensors.ts";
import type { KeyValueShape, KeyValues } from "./key-values.ts";

export type TreeShape = TokenTreeShape | Gemma3Shape;

/** What the runner has to know of a token-tree graph. */
export interface TreeModel {
  readonly keyValues: KeyValueShape;
  /** After how many keys sums are cut. */
  readonly keyBlock: number;
  /** Threads of a run: no more than leave the bits as they are. */
  readonly threads: number;
  inputs(forward: Forward, known: (node: Node) => KeyValues): ForwardInputs;
}

/** @param threads that may be used */
export function treeModel(shape: TreeShape, threads: number): TreeModel {
  if ("type" in shape) {
    const parts = threadParts(shape, threads);
    return {
      keyValues: causalKeyValueShape(shape),
      keyBlock: CAUSAL_KEY_BLOCK,
      threads,
      inputs: (forward, known) => causalInputs(forward, shape, parts, known),
    };
  }
  return {
    keyValues: keyValueShape(shape),
    keyBlock: KEY_BLOCK,
    // with more threads than heads, MLAS would cut one head's product among them and so add up in another order
    threads: Math.min(threads, shape.heads),
    inputs: (forward, known) => forwardInputs(forward, shape, known),
  };
}
