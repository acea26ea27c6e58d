import { GraphBuilder } from "../../../onnx/file/graph-builder.ts";
import type { ByteMultiplication } from "../../../onnx/layers/linear.ts";
import { InferenceSession, Tensor } from "./runtime.ts";
import { sessionOptions } from "./session-options.ts";

/** Rows, inputs and outputs of the products that are tried: a few and many rows go through different kernels. */
const ROWS = [2, 64];
const INPUTS = 384;
const OUTPUTS = 48;

/**
 * The fastest multiplication of bytes that is exact on this machine, found by multiplying the largest bytes by the
 * largest weights: where sums of 16 bits saturate, the result is wrong.
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
  // the model's options: what the runtime is told about denormal numbers by the first session of a process holds for all
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
