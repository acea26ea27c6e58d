import { ModelRunner, type RunnerOptions } from "../../src/backends/onnx/forwards/model-runner.ts";
import { piecesPerThread } from "../../src/backends/onnx/runtime/work-split.ts";
import { treeModel } from "../../src/backends/tensors/tree-model.ts";
import { buildGraph, tokenTreeShape } from "../../src/models/architectures/bert-token-tree/graph.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import type { Multiplication } from "../../src/onnx/layers/linear.ts";
import { embeddedModel } from "../support/package-root.ts";
import { leavesOfTrees } from "../support/trees.ts";
import type { Score } from "./same-bits.ts";

const embedded = await openModelPackage(embeddedModel);
/** Two layers: one that computes keys and values of all tokens, and the last, which reads only scored tokens. */
const LAYERS = 2;
const architecture = { ...embedded.manifest.architecture, layers: LAYERS };

/** The embedded model without most of its layers: the same widths, so the same kernels, at a fraction of the cost. */
export const shallowShape = tokenTreeShape(architecture);

export const shallowPackage = { ...embedded, manifest: { ...embedded.manifest, architecture } };

export function shallowGraph(form: Multiplication): Promise<Uint8Array> {
  return buildGraph(shallowPackage, form);
}

export function fullGraph(form: Multiplication): Promise<Uint8Array> {
  return buildGraph(embedded, form);
}

export const fullShape = tokenTreeShape(embedded.manifest.architecture);

/** A runner as a function. */
export async function scorer(
  graph: Uint8Array,
  shape: typeof fullShape,
  options: RunnerOptions,
): Promise<Score> {
  const pieces = await piecesPerThread(options.threads);
  const runner = await ModelRunner.load(graph, shape, { ...options, piecesPerThread: pieces });
  return async (forest) => (await runner.score(leavesOfTrees(forest))).scores;
}

/** A scorer of the shallow model with all threads in each forward, even in small ones. */
export async function sharedForwards(
  graph: Uint8Array,
  threads: number,
  stateCacheBytes: number,
): Promise<Score> {
  const model = treeModel(shallowShape, threads, await piecesPerThread(threads));
  const runner = await ModelRunner.loadModel(graph, { ...model, forwardThreads: 1 }, stateCacheBytes);
  return async (forest) => (await runner.score(leavesOfTrees(forest))).scores;
}
