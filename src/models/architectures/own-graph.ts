import { realpath } from "node:fs/promises";
import path from "node:path";
import { invalidModel } from "../../errors.ts";
import { readGraphFacts } from "../../onnx/file/graph-facts.ts";
import { type ModelPackage, packagePath, readPackageFile } from "../package/package.ts";

/**
 * A package's own graph, every byte checked against the manifest. External data must be in files that the manifest
 * lists. If the graph is a symbolic link, they must be beside its target, because the runtime searches there.
 *
 * @param name its file
 * @returns its bytes, or its path if it needs other files
 * @throws ServiceError INVALID_MODEL naming the file
 */
export async function openOwnGraph(modelPackage: ModelPackage, name: string): Promise<Uint8Array | string> {
  const invalid = (what: string, cause?: unknown) => invalidModel(`${name} ${what}.`, cause);
  const bytes = await readPackageFile(modelPackage, name);
  let others: readonly string[];
  try {
    others = readGraphFacts(bytes).externalFiles;
  } catch (cause) {
    throw invalid("is not an ONNX file", cause);
  }
  const graph = await packagePath(modelPackage.folder, name);
  for (const other of others) {
    if (!Object.hasOwn(modelPackage.manifest.files, other))
      throw invalid(
        `refers to the file ${JSON.stringify(other.slice(0, 100))}, which is not in the manifest`,
      );
    await readPackageFile(modelPackage, other);
    const read = await realpath(path.join(path.dirname(graph), other)).catch(() => undefined);
    if (read !== (await packagePath(modelPackage.folder, other)))
      throw invalid(`is a link, and ${other} is missing beside its target: copy both files into the folder`);
  }
  return others.length === 0 ? bytes : path.resolve(graph);
}
