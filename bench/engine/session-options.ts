import type { InferenceSession } from "onnxruntime-node";

/** What every session of the bench runs with: the engine's own settings (src/backends/onnx/model-runner.ts). */
export function sessionOptions(threads: number): InferenceSession.SessionOptions {
  return {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    enableMemPattern: false,
    logSeverityLevel: 3,
    extra: { session: { set_denormal_as_zero: "1", intra_op: { allow_spinning: "0" } } },
  };
}
