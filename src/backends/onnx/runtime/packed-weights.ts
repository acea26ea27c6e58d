import path from "node:path";
import type { Packing } from "../../../models/architectures/architecture.ts";
import { LARGE_CONSTANT } from "../../../onnx/file/graph-builder.ts";
import { env, InferenceSession } from "./runtime.ts";
import { sessionOptions } from "./session-options.ts";

/**
 * Stores the weights of a graph in a file beside it, both unchanged and packed in the order in which this processor's
 * kernels read them. Sessions map that file: they share one copy, and the system may evict its pages. When a session loads
 * the graph it packs the weights again, and uses the stored ones only if they are equal. On another kind of processor it
 * keeps its own copy (11 MiB in int8).
 */
export const PACKING: Packing = { pack: packWeights, version: env.versions.node ?? env.versions.common };

async function packWeights(from: string, to: string, weights: string): Promise<void> {
  const { extra, ...options } = sessionOptions(1);
  const session = await InferenceSession.create(from, {
    ...options,
    graphOptimizationLevel: "disabled", // the runtime cannot read back subgraphs that it has optimized
    optimizedModelFilePath: path.resolve(to),
    extra: {
      session: {
        ...(extra?.session as object),
        save_external_prepacked_constant_initializers: "1",
        optimized_model_external_initializers_file_name: weights,
        optimized_model_external_initializers_min_size_in_bytes: String(LARGE_CONSTANT),
      },
    },
  });
  await session.release();
}
