import type { WeightsFile } from "../../onnx/file/graph-builder.ts";
import type { GraphSource } from "../graph/graph-cache.ts";
import { writerDigest } from "../graph/writer-digest.ts";
import { type ModelPackage, readPackageFile } from "../package/package.ts";
import { bytesSource } from "../weights/safetensors.ts";
import { Tensors } from "../weights/tensors.ts";
import type { GraphWish } from "./architecture.ts";
import { weightFiles } from "./manifests.ts";

/** The tensors of one of the package's files, which is read into memory. @throws ServiceError INVALID_MODEL */
export async function packageTensors(modelPackage: ModelPackage, name: string): Promise<Tensors> {
  return new Tensors(bytesSource(await readPackageFile(modelPackage, name), name));
}

/** The cache key of a package's graph. @param settings what the graph depends on in addition to files, wish and code */
export async function graphSource(
  { manifest }: ModelPackage,
  { form, hasVectors = false, packing }: GraphWish,
  settings: GraphSource["settings"],
): Promise<GraphSource> {
  const [model = ""] = manifest.id.split("@");
  const files = weightFiles(manifest.architecture.type).map((name) => [name, manifest.files[name] ?? ""]);
  return {
    model,
    files: Object.fromEntries(files),
    settings: {
      form,
      writer: await writerDigest(),
      ...settings,
      ...(hasVectors && { outputs: "vectors" }),
      ...(packing && { packed: packing.version }),
    },
  };
}

/** Discards constants. */
export const NOWHERE: WeightsFile = {
  name: "nowhere",
  append(parts) {
    let length = 0;
    for (const part of parts) length += part.length;
    return { offset: 0, length };
  },
};
