import { invalidModel, ServiceError } from "../../../errors.ts";
import { buildTokenTree, buildWholeTree } from "../../../onnx/encoder/bert-token-tree.ts";
import type { WeightsFile } from "../../../onnx/file/graph-builder.ts";
import type { Multiplication } from "../../../onnx/layers/linear.ts";
import { type TokenTreeShape, wholeTreeTensors } from "../../../onnx/token-tree-io.ts";
import { keptGraph } from "../../graph/graph-cache.ts";
import type { ModelPackage } from "../../package/package.ts";
import type { GraphWish, TreeGraph, WholeModel } from "../architecture.ts";
import type { Architecture } from "../manifests.ts";
import { graphSource, NOWHERE, packageTensors } from "../written-graph.ts";
import type { TokenTreeArchitecture } from "./facts.ts";

const WEIGHTS = "model.safetensors";

/**
 * Writes the graph with its weights.
 *
 * @returns the bytes of an ONNX file
 * @throws ServiceError INVALID_MODEL
 */
export async function buildGraph(
  modelPackage: ModelPackage,
  form: Multiplication,
  weightsFile?: WeightsFile,
  hasVectors = false,
): Promise<Uint8Array> {
  const shape = tokenTreeShape(modelPackage.manifest.architecture);
  return buildTokenTree(shape, await packageTensors(modelPackage, WEIGHTS), form, weightsFile, hasVectors);
}

/**
 * The same, from the cache if possible: reading takes a tenth of the time of writing. If the cache cannot be written,
 * its bytes.
 */
export async function openGraph(
  modelPackage: ModelPackage,
  architecture: TokenTreeArchitecture,
  wish: GraphWish,
): Promise<TreeGraph> {
  const { form, folders, hasVectors, packing } = wish;
  const shape = tokenTreeShape(architecture);
  const source = await graphSource(modelPackage, wish, { shape: JSON.stringify(shape) });
  const write = (weightsFile?: WeightsFile) => buildGraph(modelPackage, form, weightsFile, hasVectors);
  try {
    const { path } = await keptGraph(source, write, folders.cache, packing?.pack);
    return { kind: "trees", graph: path, shape };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    return { kind: "trees", graph: await write(), shape };
  }
}

export function checkGraph(modelPackage: ModelPackage): Promise<unknown> {
  return buildGraph(modelPackage, "fp32", NOWHERE);
}

export async function wholeModel(
  modelPackage: ModelPackage,
  architecture: TokenTreeArchitecture,
): Promise<WholeModel> {
  const shape = tokenTreeShape(architecture);
  return {
    shape,
    ...wholeTreeTensors(shape.hidden),
    settings: shape,
    write: async (form, digest, weights) =>
      buildWholeTree(shape, await packageTensors(modelPackage, WEIGHTS), form, digest, weights),
  };
}

/** @throws ServiceError INVALID_MODEL for another architecture */
export function tokenTreeShape(architecture: Architecture): TokenTreeShape {
  if (architecture.type !== "bert-token-tree") {
    throw invalidModel(`The architecture of the model is ${architecture.type}, expected bert-token-tree.`);
  }
  const { vocab, hidden, heads, inner, layers, positions, layer_norm_epsilon } = architecture;
  return { vocab, hidden, heads, inner, layers, positions, layerNormEpsilon: layer_norm_epsilon };
}
