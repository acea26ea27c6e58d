import type { Node } from "../../inference/nodes.ts";
import type { Gemma3Shape } from "../../onnx/causal/gemma3-io.ts";
import type { TokenTreeShape } from "../../onnx/token-tree-io.ts";
import { threadParts } from "./causal-keys.ts";
import { causalInputs, causalKeyValueShape } from "./causal-tensors.ts";
import type { ForwardTask } from "./forward.ts";
import { type ForwardInputs, forwardInputs, keyValueShape } from "./forward-tensors.ts";
import type { KeyValueShape, KeyValues } from "./key-values.ts";

/** Maximum number of threads. Chosen: most batches have no more forwards. */
const MOST_FORWARD_THREADS = 8;
/** Maximum bytes of weights in all forward threads together. Chosen: a thread of the embedded model takes about 25 MB in int8. */
const MOST_WEIGHTS = 128e6;

export type TreeShape = TokenTreeShape | Gemma3Shape;

/** Properties of a token-tree graph for the runner. */
export interface TreeModel {
  readonly keyValues: KeyValueShape;
  readonly shape: TreeShape;
  /** Threads that may share one forward without changing bits. */
  readonly threads: number;
  /** Forwards that may run in parallel, each in a thread with weights of its own. */
  readonly forwardThreads: number;
  inputs(task: ForwardTask, known: (node: Node) => KeyValues): ForwardInputs;
}

/**
 * @param threads         available threads
 * @param piecesPerThread see work-split.ts
 */
export function treeModel(shape: TreeShape, threads: number, piecesPerThread = 1): TreeModel {
  if ("type" in shape) {
    const parts = threadParts(shape, threads * piecesPerThread);
    return {
      shape,
      keyValues: causalKeyValueShape(shape),
      threads,
      forwardThreads: 1, // the weights are too large for several copies
      inputs: ({ forward }, known) => causalInputs(forward, shape, parts, known),
    };
  }
  return {
    shape,
    keyValues: keyValueShape(shape),
    forwardThreads: forwardThreads(shape, threads),
    // with more pieces than heads, MLAS would split the product of a head and sum in another order
    threads: Math.min(threads, Math.max(1, Math.floor(shape.heads / piecesPerThread))),
    inputs: (task, known) => forwardInputs(task, shape, known),
  };
}

function forwardThreads({ layers, hidden, inner }: TokenTreeShape, threads: number): number {
  // on systems where threads do not inherit the denormal setting, they would compute other bits
  if (process.platform === "win32") return 1;
  const weights = layers * hidden * (4 * hidden + 2 * inner);
  return Math.max(1, Math.min(threads, MOST_FORWARD_THREADS, Math.floor(MOST_WEIGHTS / weights)));
}
