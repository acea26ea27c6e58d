import { ServiceError } from "../../errors.ts";
import type { Gemma3Shape, Gemma3Weights } from "../../onnx/causal/gemma3-io.ts";
import { buildGemma3TokenTree } from "../../onnx/causal/gemma3-token-tree.ts";
import { buildTokenTree } from "../../onnx/encoder/bert-token-tree.ts";
import type { WeightsFile } from "../../onnx/file/graph-builder.ts";
import type { Multiplication } from "../../onnx/layers/linear.ts";
import type { TokenTreeShape } from "../../onnx/token-tree-io.ts";
import type { Architecture } from "../package/manifest.ts";
import { type ModelPackage, readPackageFile } from "../package/package.ts";
import { VerifiedFile } from "../package/verified-file.ts";
import { gemma3Weights, headNames } from "../weights/gemma3-weights.ts";
import { bytesSource } from "../weights/safetensors.ts";
import { Tensors } from "../weights/tensors.ts";
import { readGemma3Config } from "./gemma3-config.ts";
import { cachedGraph, type GraphFile, type GraphFolders, keptGraph, type PackGraph } from "./graph-cache.ts";
import { longestPair } from "./joint-model.ts";
import { writerDigest } from "./writer-digest.ts";

/** Arithmetic of a graph, as chosen by the operator. */
export type Precision = "int8" | "fp32";

/** How a runtime stores a graph so that its sessions share the weights. */
export interface Packing {
  readonly pack: PackGraph;
  /** Changes whenever the stored format changes. */
  readonly version: string;
}

/**
 * Writes the graph of the embedded model's architecture with its weights.
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
  const tensors = await packageTensors(modelPackage, "model.safetensors");
  return buildTokenTree(shape, tensors, form, weightsFile, hasVectors);
}

/** The tensors of one of the package's files, which is read into memory. @throws ServiceError INVALID_MODEL */
export async function packageTensors(modelPackage: ModelPackage, name: string): Promise<Tensors> {
  return new Tensors(bytesSource(await readPackageFile(modelPackage, name), name));
}

/**
 * The same, from the cache if possible: reading takes a tenth of the time of writing.
 *
 * @param hasVectors whether the graph has the output `vectors`
 * @param packing    how a graph is packed before it is cached
 * @returns the path of an ONNX file, or its bytes if the cache cannot be written
 * @throws ServiceError INVALID_MODEL
 */
export async function openTokenTreeGraph(
  modelPackage: ModelPackage,
  form: Multiplication,
  cache: string,
  hasVectors = false,
  packing?: Packing,
): Promise<string | Uint8Array> {
  const { architecture, id, files } = modelPackage.manifest;
  const [model = ""] = id.split("@");
  const name = "model.safetensors";
  const source = {
    model,
    files: { [name]: files[name] ?? "" },
    settings: {
      form,
      writer: await writerDigest(),
      shape: JSON.stringify(tokenTreeShape(architecture)),
      ...outputs(hasVectors),
      ...(packing && { packed: packing.version }),
    },
  };
  try {
    const write = (weightsFile: WeightsFile) => buildGraph(modelPackage, form, weightsFile, hasVectors);
    return (await keptGraph(source, write, cache, packing?.pack)).path;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    return buildGraph(modelPackage, form, undefined, hasVectors);
  }
}

/** Part of the cache key; empty for a graph without vectors. */
const outputs = (hasVectors: boolean) => (hasVectors ? { outputs: "vectors" } : {});

/** @throws ServiceError INVALID_MODEL for another architecture */
export function tokenTreeShape(architecture: Architecture): TokenTreeShape {
  if (architecture.type !== "bert-token-tree") {
    throw new ServiceError(
      "INVALID_MODEL",
      `The architecture of the model is ${architecture.type}, expected bert-token-tree.`,
    );
  }
  const { vocab, hidden, heads, inner, layers, positions, layer_norm_epsilon } = architecture;
  return { vocab, hidden, heads, inner, layers, positions, layerNormEpsilon: layer_norm_epsilon };
}

/**
 * The graph of a causal model, from the cache or newly written. Its weights are too large for memory, so they are streamed
 * from file to file, matrix by matrix.
 *
 * @throws ServiceError INVALID_MODEL naming the file and the member or tensor that is wrong; BACKEND_FAILED where no folder
 *         can be written
 */
export async function openGemma3Graph(
  modelPackage: ModelPackage,
  form: Multiplication,
  folders: GraphFolders,
  hasVectors = false,
): Promise<{ readonly file: GraphFile; readonly shape: Gemma3Shape }> {
  const { manifest } = modelPackage;
  const { shape, write } = await gemma3Graph(modelPackage, form, hasVectors);
  const [model = ""] = manifest.id.split("@");
  const used = ["config.json", "joint_head.safetensors", "model.safetensors"];
  const files = Object.fromEntries(used.map((name) => [name, manifest.files[name] ?? ""]));
  const settings = {
    form,
    writer: await writerDigest(),
    positions: shape.positions,
    ...outputs(hasVectors),
  };
  return { file: await cachedGraph({ model, files, settings }, write, folders), shape };
}

/** The shape of a causal package, and the writer of its graph. */
async function gemma3Graph(modelPackage: ModelPackage, form: Multiplication, hasVectors = false) {
  const write = (weightsFile: WeightsFile) =>
    gemma3Writer(modelPackage, (shape, weights) =>
      buildGemma3TokenTree(shape, weights, form, weightsFile, hasVectors),
    );
  return { shape: await gemma3Shape(modelPackage), write };
}

/** @throws ServiceError INVALID_MODEL */
export async function gemma3Shape(modelPackage: ModelPackage): Promise<Gemma3Shape> {
  return (await gemma3Parts(modelPackage)).shape;
}

async function gemma3Parts(modelPackage: ModelPackage) {
  const config = readGemma3Config(
    new TextDecoder().decode(await readPackageFile(modelPackage, "config.json")),
  );
  const head = await packageTensors(modelPackage, "joint_head.safetensors");
  const names = headNames(head, config.hidden);
  const positions = longestPair(
    modelPackage.manifest,
    config.maxPositions,
    "max_position_embeddings in config.json",
  );
  return { head, names, shape: { ...config, positions, headInner: names.innerSize } };
}

/** @param build streams the weights, whose files are closed when it returns @throws ServiceError INVALID_MODEL */
export async function gemma3Writer(
  modelPackage: ModelPackage,
  build: (shape: Gemma3Shape, weights: Gemma3Weights) => Uint8Array,
): Promise<Uint8Array> {
  const { head, names, shape } = await gemma3Parts(modelPackage);
  const file = await VerifiedFile.open(modelPackage, "model.safetensors");
  try {
    return build(shape, gemma3Weights(new Tensors(file), head, names));
  } finally {
    file.close();
  }
}

/** Discards constants. */
const NOWHERE: WeightsFile = {
  name: "nowhere",
  append(parts) {
    let length = 0;
    for (const part of parts) length += part.length;
    return { offset: 0, length };
  },
};

/**
 * Reads and checks all inputs of a package's graph, or the graph itself, without storing anything.
 *
 * @throws ServiceError INVALID_MODEL naming the file and what is wrong with it
 */
export async function checkGraph(modelPackage: ModelPackage): Promise<void> {
  switch (modelPackage.manifest.architecture.type) {
    case "bert-token-tree":
      await buildGraph(modelPackage, "fp32", NOWHERE);
      return;
    case "gemma3-text-joint":
      await (await gemma3Graph(modelPackage, "fp32")).write(NOWHERE);
      return;
    case "onnx-joint-pairs":
      await (await import("./joint-graph.ts")).openJointGraph(modelPackage);
  }
}
