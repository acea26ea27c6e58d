import { GraphBuilder } from "../../../onnx/file/graph-builder.ts";
import type { ByteMultiplication } from "../../../onnx/layers/linear.ts";
import { InferenceSession, Tensor } from "./runtime.ts";
import { sessionOptions } from "./session-options.ts";

/** Rows, inputs and outputs of the test products. Few and many rows use different kernels. */
const ROWS = [2, 64];
const INPUTS = 384;
const OUTPUTS = 48;

/**
 * The fastest 8-bit multiplication that is exact on this machine. Tested by multiplying the largest activations and
 * weights: if the processor sums in 16 bits and saturates, the result is wrong.
 */
export async function exactMultiplication(): Promise<ByteMultiplication> {
  const graph = new GraphBuilder();
  const x = graph.input("x", "uint8", ["rows", INPUTS]);
  const weights = new Int8Array(INPUTS * OUTPUTS).fill(127);
  const product = graph.contrib("MatMulIntegerToFloat", [
    x,
    graph.constant("int8", [INPUTS, OUTPUTS], weights),
    graph.floats([], 1),
    graph.floats([], 1),
  ]);
  graph.output(product, "float32", ["rows", OUTPUTS]);
  // same options as for the model, because the denormal setting of the first session applies to the whole process
  const session = await InferenceSession.create(graph.build("exact-kernel"), sessionOptions(1));
  try {
    for (const rows of ROWS) {
      const bytes = new Uint8Array(rows * INPUTS).fill(255);
      const results = await session.run({ x: new Tensor("uint8", bytes, [rows, INPUTS]) });
      const data = results[product]?.data;
      if (!(data instanceof Float32Array) || data.some((sum) => sum !== 255 * 127 * INPUTS)) return "u8u8";
    }
    return "u8s8";
  } finally {
    await session.release();
  }
}
