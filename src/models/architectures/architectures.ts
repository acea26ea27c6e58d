import { invalidModel } from "../../errors.ts";
import type { Tokenizer } from "../../inference/tokens/tokenizer.ts";
import type { ModelPackage } from "../package/package.ts";
import type {
  Architecture,
  FolderFacts,
  FolderWish,
  GraphWish,
  PairGraph,
  TreeGraph,
} from "./architecture.ts";
import type { ArchitectureOf, ArchitectureType } from "./manifests.ts";

/** Every architecture. */
const ARCHITECTURES: { readonly [Type in ArchitectureType]: Architecture<ArchitectureOf<Type>> } = {
  "bert-token-tree": {
    tokenizer: () => import("./bert-token-tree/tokenizer.ts"),
    graph: () => import("./bert-token-tree/graph.ts"),
  },
  "onnx-joint-pairs": {
    tokenizer: () => import("./onnx-joint-pairs/tokenizer.ts"),
    graph: () => import("./onnx-joint-pairs/graph.ts"),
    folder: () => import("./onnx-joint-pairs/folder.ts"),
  },
  "pair-classifier": {
    tokenizer: () => import("./pair-classifier/tokenizer.ts"),
    graph: () => import("./pair-classifier/graph.ts"),
    folder: () => import("./pair-classifier/folder.ts"),
  },
  "gemma3-text-joint": {
    tokenizer: () => import("./gemma3-text-joint/tokenizer.ts"),
    graph: () => import("./gemma3-text-joint/graph.ts"),
    folder: () => import("./gemma3-text-joint/folder.ts"),
  },
};

export function architectureOf<Type extends ArchitectureType>(
  type: Type,
): Architecture<ArchitectureOf<Type>> {
  return ARCHITECTURES[type];
}

/** Loads the code that opens graphs, so that opening one is faster. */
export async function preloadGraphs(): Promise<void> {
  await Promise.all(Object.values(ARCHITECTURES).map(({ graph }) => graph()));
}

/** The tokenizer of a package. @throws ServiceError INVALID_MODEL */
export async function openTokenizer(modelPackage: ModelPackage): Promise<Tokenizer> {
  const { architecture } = modelPackage.manifest;
  return (await architectureOf(architecture.type).tokenizer()).openTokenizer(modelPackage, architecture);
}

/**
 * The graph of a package, which is written unless it is stored already.
 *
 * @throws ServiceError INVALID_MODEL naming the file and what is wrong with it; BACKEND_FAILED where no folder can be
 *   written
 */
export async function openGraph(modelPackage: ModelPackage, wish: GraphWish): Promise<TreeGraph | PairGraph> {
  const { architecture } = modelPackage.manifest;
  return (await architectureOf(architecture.type).graph()).openGraph(modelPackage, architecture, wish);
}

/** Reads and checks everything that `openGraph` needs, without storing anything. @throws ServiceError INVALID_MODEL */
export async function checkGraph(modelPackage: ModelPackage): Promise<void> {
  const { architecture } = modelPackage.manifest;
  await (await architectureOf(architecture.type).graph()).checkGraph(modelPackage, architecture);
}

/**
 * The facts about the model in a folder that is no package yet.
 *
 * @param names files of the folder
 * @throws ServiceError INVALID_MODEL naming what the folder lacks
 */
export async function describeFiles(
  folder: string,
  names: readonly string[],
  wish: FolderWish = {},
): Promise<FolderFacts> {
  for (const architecture of Object.values(ARCHITECTURES)) {
    const found = await (await architecture.folder?.())?.describe(folder, names, wish);
    if (found !== undefined) return found;
  }
  throw invalidModel(
    `${folder} holds no model of a known kind. Expected model.onnx with config.json and tokenizer.json, model.safetensors with joint_head.safetensors, or onnx_manifest.json.`,
  );
}
