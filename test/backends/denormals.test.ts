import assert from "node:assert/strict";
import { test } from "node:test";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { exactMultiplication } from "../../src/backends/onnx/exact-kernel.ts";
import { sessionOptions } from "../../src/backends/onnx/session-options.ts";
import { GraphBuilder } from "../../src/onnx/graph-builder.ts";

// alone in its file: the first session of a process decides
const isTold = process.arch === "x64"; // elsewhere the runtime takes no such setting
test("denormal numbers are zero in a model that is loaded after the kernels were tried", {
  skip: !isTold,
}, async () => {
  await exactMultiplication();
  const graph = new GraphBuilder();
  const x = graph.input("x", "float32", [1]);
  const product = graph.node("Mul", [x, x]);
  graph.output(product, "float32", [1]);
  const session = await InferenceSession.create(graph.build("denormals"), sessionOptions(2));
  try {
    const results = await session.run({ x: new Tensor("float32", Float32Array.of(1e-20), [1]) });
    assert.deepEqual(results[product]?.data, Float32Array.of(0));
  } finally {
    await session.release();
  }
});
