import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import { exactMultiplication } from "../../src/backends/onnx/runtime/exact-kernel.ts";
import { InferenceSession, Tensor } from "../../src/backends/onnx/runtime/runtime.ts";
import { sessionOptions } from "../../src/backends/onnx/runtime/session-options.ts";
import { GraphBuilder } from "../../src/onnx/file/graph-builder.ts";

const PRODUCT = "product";
const DENORMAL_ROOT = 1e-20;

function squares(): Uint8Array {
  const graph = new GraphBuilder();
  const x = graph.input("x", "float32", [1]);
  graph.node("Mul", [x, x], {}, PRODUCT);
  graph.output(PRODUCT, "float32", [1]);
  return graph.build("denormals");
}

/** Code of a worker thread that runs a graph. */
const SQUARE = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { InferenceSession, Tensor } = require("onnxruntime-node");
  const { graph, options, x } = workerData;
  InferenceSession.create(graph, options)
    .then((session) => session.run({ x: new Tensor("float32", x, [1]) }))
    .then((results) => parentPort.postMessage(results[${JSON.stringify(PRODUCT)}].data));
`;

// alone in its file, because the first session of a process decides
const isTold = process.arch === "x64"; // the runtime has no such setting on other platforms
describe("denormal numbers are zero after the kernels were tried", { skip: !isTold }, () => {
  it("in a model that is loaded then", async () => {
    await exactMultiplication();
    const session = await InferenceSession.create(squares(), sessionOptions(2));
    try {
      const x = new Tensor("float32", Float32Array.of(DENORMAL_ROOT), [1]);
      const results = await session.run({ x });
      assert.deepEqual(results[PRODUCT]?.data, Float32Array.of(0));
    } finally {
      await session.release();
    }
  });

  it("in threads that are started then", async () => {
    await exactMultiplication();
    const x = Float32Array.of(DENORMAL_ROOT);
    const workerData = { graph: squares(), options: sessionOptions(1), x };
    const thread = new Worker(SQUARE, { eval: true, workerData, execArgv: [] });
    const [product] = await once(thread, "message");
    await thread.terminate();
    assert.deepEqual(product, Float32Array.of(0));
  });
});
