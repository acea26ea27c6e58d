import { type Gemma3Shape, type Gemma3Weights, wholeGemma3Tensors } from "../../../onnx/causal/gemma3-io.ts";
import { buildGemma3TokenTree, buildWholeGemma3 } from "../../../onnx/causal/gemma3-token-tree.ts";
import { cachedGraph } from "../../graph/graph-cache.ts";
import { type ModelPackage, readPackageText } from "../../package/package.ts";
import { VerifiedFile } from "../../package/verified-file.ts";
import { Tensors } from "../../weights/tensors.ts";
import type { GraphWish, TreeGraph, WholeModel } from "../architecture.ts";
import { longestPair } from "../joint-limits.ts";
import { graphSource, NOWHERE, packageTensors } from "../written-graph.ts";
import { readGemma3Config } from "./config.ts";
import type { JointTextArchitecture } from "./facts.ts";
import { gemma3Weights, headNames } from "./weights.ts";

/** The graph, from the cache or newly written. */
export async function openGraph(
  modelPackage: ModelPackage,
  _architecture: JointTextArchitecture,
  wish: GraphWish,
): Promise<TreeGraph> {
  const { shape } = await readParts(modelPackage);
  const source = await graphSource(modelPackage, wish, { positions: shape.positions });
  const { path, release } = await cachedGraph(
    source,
    (weightsFile) =>
      writeGraph(modelPackage, (shape, weights) =>
        buildGemma3TokenTree(shape, weights, wish.form, weightsFile, wish.hasVectors),
      ),
    wish.folders,
  );
  return { kind: "trees", graph: path, shape, release };
}

export function checkGraph(modelPackage: ModelPackage): Promise<unknown> {
  return writeGraph(modelPackage, (shape, weights) => buildGemma3TokenTree(shape, weights, "fp32", NOWHERE));
}

export async function wholeModel(modelPackage: ModelPackage): Promise<WholeModel> {
  const { shape } = await readParts(modelPackage);
  return {
    shape,
    ...wholeGemma3Tensors(shape),
    settings: { positions: shape.positions },
    write: (form, digest, weightsFile) =>
      writeGraph(modelPackage, (shape, weights) =>
        buildWholeGemma3(shape, weights, form, digest, weightsFile),
      ),
  };
}

async function readParts(modelPackage: ModelPackage) {
  const config = readGemma3Config(await readPackageText(modelPackage, "config.json"));
  const head = await packageTensors(modelPackage, "joint_head.safetensors");
  const names = headNames(head, config.hidden);
  const positions = longestPair(
    modelPackage.manifest,
    config.maxPositions,
    "max_position_embeddings in config.json",
  );
  return { head, names, shape: { ...config, positions, headInner: names.innerSize } };
}

/**
 * @param build streams the weights, which are too large for memory, matrix by matrix. Their file is closed when it
 *   returns
 */
async function writeGraph(
  modelPackage: ModelPackage,
  build: (shape: Gemma3Shape, weights: Gemma3Weights) => Uint8Array,
): Promise<Uint8Array> {
  const { head, names, shape } = await readParts(modelPackage);
  const file = await VerifiedFile.open(modelPackage, "model.safetensors");
  try {
    return build(shape, gemma3Weights(new Tensors(file), head, names));
  } finally {
    file.close();
  }
}
