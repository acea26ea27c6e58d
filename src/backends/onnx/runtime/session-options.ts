import type { InferenceSession } from "./runtime.ts";

/** Devices of ONNX Runtime: the processor, and its execution providers that packages of onnxruntime-node may have. */
export const ONNX_DEVICES = ["cpu", "cuda", "coreml", "webgpu"] as const;
export type OnnxDevice = (typeof ONNX_DEVICES)[number];

/** Where a session computes: on the CPU unless given. */
export interface Place {
  readonly device?: OnnxDevice | undefined;
  /** Whether the runtime writes to stderr on which device it has put each operator. */
  readonly isTold?: boolean | undefined;
}

/** Session options of a model. @param threads threads of one run */
export function sessionOptions(
  threads: number,
  { device = "cpu", isTold = false }: Place = {},
): InferenceSession.SessionOptions {
  return {
    ...(device !== "cpu" && { executionProviders: [device] }),
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // memory patterns grow memory with every new shape (110 to 565 MB measured)
    enableMemPattern: false,
    // errors only: warnings would go to stderr of the service
    logSeverityLevel: isTold ? 0 : 3,
    extra: {
      session: {
        // masked keys have the weight exp(-inf). Without this setting the denormal numbers on the way to 0 are slow,
        // and Exp takes 4 to 5 times as long (measured)
        set_denormal_as_zero: "1",
        // a forward's kernels come microseconds after one another: a thread that looks for work that long need not be woken, which takes
        // longer (0.82 to 0.92 of the time, measured). Beside other work it takes the processor from the thread that it waits for, the
        // longer it looks the more: docs/performance.md has the figures
        intra_op: threads > 1 ? { allow_spinning: "1", spin_duration_us: "20" } : { allow_spinning: "0" },
        force_spinning_stop: "1", // once a forward is done
      },
    },
  };
}
