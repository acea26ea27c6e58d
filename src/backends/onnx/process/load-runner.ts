import { tmpdir } from "node:os";
import { homeFolder } from "../../../home.ts";
import type { Precision } from "../../../models/architectures/architecture.ts";
import { openGraph } from "../../../models/architectures/architectures.ts";
import { type GraphFolders, graphFolders } from "../../../models/graph/graph-cache.ts";
import type { ModelPackage } from "../../../models/package/package.ts";
import type { Multiplication } from "../../../onnx/layers/linear.ts";
import { ModelRunner, type Runner, type RunnerOptions } from "../forwards/model-runner.ts";
import { PairRunner } from "../forwards/pair-runner.ts";
import { exactMultiplication } from "../runtime/exact-kernel.ts";
import { PACKING } from "../runtime/packed-weights.ts";
import { piecesPerThread } from "../runtime/work-split.ts";

/** The form of matrix multiplication that this machine uses for a precision. */
export async function multiplicationOf(precision: Precision): Promise<Multiplication> {
  return precision === "fp32" ? "fp32" : exactMultiplication();
}

/**
 * Loads a package's graph into the runner of its kind.
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
  const { device = "cpu" } = options.place ?? {};
  const threads = device === "cpu" ? options.threads : 1;
  const { hasVectors, place } = options;
  const opened = await openGraph(modelPackage, { form, folders, hasVectors, packing: PACKING });
  if (opened.kind === "pairs") return PairRunner.load(opened, threads, place);
  try {
    const { graph, shape } = opened;
    return await ModelRunner.load(graph, shape, {
      ...options,
      threads,
      piecesPerThread: await piecesPerThread(threads),
    });
  } finally {
    await opened.release?.();
  }
}
