import { realpath } from "node:fs/promises";
import path from "node:path";
import { ServiceError } from "../../errors.ts";
import { externalFiles } from "../../onnx/file/external-files.ts";
import { type ModelPackage, packagePath, readPackageFile } from "../package/package.ts";

const GRAPH = "model.onnx";

/**
 * A package's own graph, every byte checked against the manifest. External data must be in files that the manifest lists. If
 * the graph is a symbolic link, they must be beside its target, because the runtime searches there.
 *
 * @returns its bytes, or its path if it needs other files
 * @throws ServiceError INVALID_MODEL naming the file
 */
export async function openJointGraph(modelPackage: ModelPackage): Promise<Uint8Array | string> {
  const bytes = await readPackageFile(modelPackage, GRAPH);
  const others = namesIn(bytes);
  const graph = await packagePath(modelPackage.folder, GRAPH);
  for (const name of others) {
    if (!Object.hasOwn(modelPackage.manifest.files, name))
      throw invalid(`refers to the file ${JSON.stringify(name.slice(0, 100))}, which is not in the manifest`);
    await readPackageFile(modelPackage, name);
    const read = await realpath(path.join(path.dirname(graph), name)).catch(() => undefined);
    if (read !== (await packagePath(modelPackage.folder, name)))
      throw invalid(`is a link, and ${name} is missing beside its target: copy both files into the folder`);
  }
  return others.length === 0 ? bytes : path.resolve(graph);
}

function namesIn(bytes: Uint8Array): readonly string[] {
  try {
    return externalFiles(bytes);
  } catch (cause) {
    throw invalid("is not an ONNX file", cause);
  }
}

function invalid(what: string, cause?: unknown): ServiceError {
  return new ServiceError("INVALID_MODEL", `${GRAPH} ${what}.`, { cause });
}
