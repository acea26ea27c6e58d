import type { InferenceSession } from "./runtime.ts";

/** Devices of ONNX Runtime: the CPU, and the execution providers that builds of onnxruntime-node may contain. */
export const ONNX_DEVICES = ["cpu", "cuda", "coreml", "webgpu"] as const;
export type OnnxDevice = (typeof ONNX_DEVICES)[number];

/** Where a session computes. Default: the CPU. */
export interface Place {
  readonly device?: OnnxDevice | undefined;
  /** Whether the session has a heap of its own, which never shrinks: for small forwards only. Default: not on Linux. */
  readonly hasOwnHeap?: boolean | undefined;
}

/** Session options of a model. @param threads threads of one run */
export function sessionOptions(
  threads: number,
  { device = "cpu", hasOwnHeap = process.platform !== "linux" }: Place = {},
): InferenceSession.SessionOptions {
  return {
    ...(device !== "cpu" && { executionProviders: [device] }),
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // with memory patterns, memory grows with every new input shape (measured: from 110 to 565 MB)
    enableMemPattern: false,
    // the runtime's arena. On Linux, sessions without one share glibc's heap, whose thresholds are in
    // ../../process/environment.ts
    enableCpuMemArena: hasOwnHeap,
    logSeverityLevel: 3, // errors only, because warnings would appear on the service's stderr
    extra: {
      session: {
        // masked keys have a weight near exp(-inf). Without this setting, denormal intermediate results make Exp
        // 4 to 5 times as slow (measured)
        set_denormal_as_zero: "1",
        // the kernels of a forward follow one another within microseconds. Threads that spin for that long need not be
        // woken, which makes forwards 8 to 18 % faster (measured). Longer spinning takes processor time from other work,
        // including the thread that is waited for: docs/performance.md has the figures
        intra_op: threads > 1 ? { allow_spinning: "1", spin_duration_us: "20" } : { allow_spinning: "0" },
        force_spinning_stop: "1", // at the end of each forward
      },
    },
  };
}
