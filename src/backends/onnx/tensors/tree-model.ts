import type { Gemma3Shape } from "../../../onnx/causal/gemma3-io.ts";
import type { TokenTreeShape } from "../../../onnx/token-tree-io.ts";
import { threadParts } from "./causal-keys.ts";
import { causalInputs, causalKeyValueShape } from "./causal-tensors.ts";
import type { ForwardTask, Node } from "./forward.ts";
import { type ForwardInputs, forwardInputs, keyValueShape } from "./forward-tensors.ts";
import type { KeyValueShape, KeyValues } from "./key-values.ts";

/** Chosen: most batches have no more forwards. */
const MOST_FORWARD_THREADS = 8;
/** Weights that all threads of forwards hold together. Chosen: a thread of the embedded model takes some 25 MB in int8. */
const MOST_WEIGHTS = 128e6;

export type TreeShape = TokenTreeShape | Gemma3Shape;

/** What the runner has to know of a token-tree graph. */
export interface TreeModel {
  readonly keyValues: KeyValueShape;
  readonly shape: TreeShape;
  /** Threads of a forward that all of them share: no more than leave the bits as they are. */
  readonly threads: number;
  /** Forwards that may run at a time, each in a thread with weights of its own. */
  readonly forwardThreads: number;
  inputs(task: ForwardTask, known: (node: Node) => KeyValues): ForwardInputs;
}

/**
 * @param threads         that may be used
 * @param piecesPerThread see work-split.ts
 */
export function treeModel(shape: TreeShape, threads: number, piecesPerThread = 1): TreeModel {
  if ("type" in shape) {
    const parts = threadParts(shape, threads * piecesPerThread);
    return {
      shape,
      keyValues: causalKeyValueShape(shape),
      threads,
      forwardThreads: 1, // the weights are too large to be held several times
      inputs: ({ forward }, known) => causalInputs(forward, shape, parts, known),
    };
  }
  return {
    shape,
    keyValues: keyValueShape(shape),
    forwardThreads: forwardThreads(shape, threads),
    // with more pieces than heads, MLAS would cut one head's product and so add up in another order
    threads: Math.min(threads, Math.max(1, Math.floor(shape.heads / piecesPerThread))),
    inputs: (task, known) => forwardInputs(task, shape, known),
  };
}

function forwardThreads({ layers, hidden, inner }: TokenTreeShape, threads: number): number {
  // where threads do not take over what is set about denormal numbers, others would compute other bits
  if (process.platform === "win32") return 1;
  const weights = layers * hidden * (4 * hidden + 2 * inner);
  return Math.max(1, Math.min(threads, MOST_FORWARD_THREADS, Math.floor(MOST_WEIGHTS / weights)));
}
