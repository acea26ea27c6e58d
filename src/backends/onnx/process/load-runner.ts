import { tmpdir } from "node:os";
import { homeFolder } from "../../../home.ts";
import {
  openGemma3Graph,
  openTokenTreeGraph,
  type Precision,
  tokenTreeShape,
} from "../../../models/graph/graph.ts";
import { type GraphFolders, graphFolders } from "../../../models/graph/graph-cache.ts";
import type { ModelPackage } from "../../../models/package/package.ts";
import type { Multiplication } from "../../../onnx/layers/linear.ts";
import { JointPairRunner } from "../forwards/joint-pair-runner.ts";
import { ModelRunner, type Runner, type RunnerOptions } from "../forwards/model-runner.ts";
import { exactMultiplication } from "../runtime/exact-kernel.ts";
import { PACKING } from "../runtime/packed-weights.ts";
import { piecesPerThread } from "../runtime/work-split.ts";

/** The form of matrix multiplication that this machine uses for a precision. */
export async function multiplicationOf(precision: Precision): Promise<Multiplication> {
  return precision === "fp32" ? "fp32" : exactMultiplication();
}

/**
 * The runner that a package's architecture needs.
 *
 * @param folders folders of stored graphs
 * @throws ServiceError INVALID_MODEL | BACKEND_FAILED
 */
export async function loadRunner(
  modelPackage: ModelPackage,
  form: Multiplication,
  options: RunnerOptions,
  folders: GraphFolders = graphFolders(process.env, homeFolder(), tmpdir()),
): Promise<Runner> {
  const { architecture } = modelPackage.manifest;
  const { device = "cpu" } = options.place ?? {};
  const threads = device === "cpu" ? options.threads : 1;
  const ofTree = async () => ({ ...options, threads, piecesPerThread: await piecesPerThread(threads) });
  switch (architecture.type) {
    case "bert-token-tree":
      return ModelRunner.load(
        await openTokenTreeGraph(modelPackage, form, folders.cache, options.hasVectors, PACKING),
        tokenTreeShape(architecture),
        await ofTree(),
      );
    case "gemma3-text-joint": {
      const { file, shape } = await openGemma3Graph(modelPackage, form, folders, options.hasVectors);
      try {
        return await ModelRunner.load(file.path, shape, await ofTree());
      } finally {
        await file.release();
      }
    }
    case "onnx-joint-pairs": {
      // imported on demand: reading ONNX files needs a library that would slow down every other start
      const { openJointGraph } = await import("../../../models/graph/joint-graph.ts");
      return JointPairRunner.load(await openJointGraph(modelPackage), architecture, threads, options.place);
    }
  }
}
