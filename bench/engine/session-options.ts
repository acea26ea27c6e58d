import type { InferenceSession } from "onnxruntime-node";

/** What every session of the bench runs with: the engine's own settings. */
export function sessionOptions(threads: number): InferenceSession.SessionOptions {
  return {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    enableMemPattern: false,
    logSeverityLevel: 3,
    extra: { session: { intra_op: { allow_spinning: "0" } } },
  };
}
