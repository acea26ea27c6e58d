import type { InferenceSession } from "onnxruntime-node";

/** How a model runs in this process. @param threads of one run */
export function sessionOptions(threads: number): InferenceSession.SessionOptions {
  return {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // with it, memory grows with every new shape (110 to 565 MB measured)
    enableMemPattern: false,
    // errors only: warnings would go to stderr of the service
    logSeverityLevel: 3,
    extra: {
      session: {
        // hidden keys weigh exp(-inf): without this the processor stumbles over the denormal numbers on the way to 0,
        // and Exp takes 4 to 5 times as long (measured)
        set_denormal_as_zero: "1",
        // spinning threads save 5 to 10 % of a run on an idle machine, but beside other work they take the processor from
        // the thread that they wait for: runs took three times as long (measured)
        intra_op: { allow_spinning: "0" },
      },
    },
  };
}
