import { realpath } from "node:fs/promises";
import path from "node:path";
import { invalidModel } from "../../errors.ts";
import { LARGE_CONSTANT } from "../../onnx/file/graph-builder.ts";
import { type GraphFacts, readGraphFacts } from "../../onnx/file/graph-facts.ts";
import { packedCopy } from "../graph/graph-cache.ts";
import { type ModelPackage, packagePath, readPackageFile } from "../package/package.ts";
import type { GraphWish } from "./architecture.ts";
import { graphFault, type WantedOutput } from "./graph-fault.ts";

/** A graph that a package brings. */
export interface OwnGraph {
  /** Its bytes, or its path if it needs other files. */
  readonly graph: Uint8Array | string;
  readonly facts: GraphFacts;
}

/** What an ONNX file says of itself. @throws ServiceError INVALID_MODEL, naming `name` */
export function factsOf(bytes: Uint8Array, name: string): GraphFacts {
  try {
    return readGraphFacts(bytes);
  } catch (cause) {
    throw invalidModel(`${name} is not an ONNX file.`, cause);
  }
}

/**
 * A package's own graph, every byte checked against the manifest, and its inputs, outputs and operators. External data
 * must be in files that the manifest lists. If the graph is a symbolic link, they must be beside its target, because
 * the runtime searches there.
 *
 * @param name its file
 * @throws ServiceError INVALID_MODEL naming the file
 */
export async function openOwnGraph(
  modelPackage: ModelPackage,
  name: string,
  output: WantedOutput,
): Promise<OwnGraph> {
  const invalid = (what: string) => invalidModel(`${name} ${what}.`);
  const bytes = await readPackageFile(modelPackage, name);
  const facts = factsOf(bytes, name);
  const fault = graphFault(facts, output);
  if (fault !== undefined) throw invalid(fault);
  const graph = await packagePath(modelPackage.folder, name);
  for (const other of facts.externalFiles) {
    if (!Object.hasOwn(modelPackage.manifest.files, other))
      throw invalid(
        `refers to the file ${JSON.stringify(other.slice(0, 100))}, which is not in the manifest`,
      );
    await readPackageFile(modelPackage, other);
    const read = await realpath(path.join(path.dirname(graph), other)).catch(() => undefined);
    if (read !== (await packagePath(modelPackage.folder, other)))
      throw invalid(`is a link, and ${other} is missing beside its target: copy both files into the folder`);
  }
  return { graph: facts.externalFiles.length === 0 ? bytes : path.resolve(graph), facts };
}

/**
 * The same graph with its weights packed, so that sessions share them.
 *
 * @param own   the checked graph
 * @returns its path; undefined if it must be used as it is: its weights cannot be packed, or the cache cannot be written
 */
export async function packOwnGraph(
  modelPackage: ModelPackage,
  name: string,
  { facts }: OwnGraph,
  { folders, packing }: GraphWish,
): Promise<string | undefined> {
  if (packing === undefined || !canBePacked(facts)) return undefined;
  const { id, files } = modelPackage.manifest;
  const [model = ""] = id.split("@");
  const source = { model, files, settings: { packed: packing.version } };
  const from = path.resolve(await packagePath(modelPackage.folder, name));
  const kept = await packedCopy(source, from, folders.cache, packing.pack).catch(() => undefined);
  return kept?.path;
}

/**
 * Bytes of an element, by ONNX's number of its type: float32, uint8, int8, int32, int64, bool, float64.
 *
 * @see TensorProto.DataType in onnx.proto
 */
const ELEMENT_BYTES: Readonly<Record<number, number>> = { 1: 4, 2: 1, 3: 1, 6: 4, 7: 8, 9: 1, 11: 8 };
/** Packed weights must begin at a multiple of this. The runtime stores large constants and their packed copies without gaps. */
const ALIGNMENT = 64;

/**
 * The runtime stores the weights of some other operators wrongly: with MatMulNBits of 4 bits, the packed graph returns
 * NaN. Weights of 16 bits are converted after packing, so nothing would be shared. Packed weights behind a constant that
 * ends between two cache lines end the process. Nor can the runtime read back subgraphs, which DeBERTa's exports have.
 */
const canBePacked = ({ domains, constants, hasSubgraphs }: GraphFacts) =>
  !hasSubgraphs &&
  domains.every((domain) => domain === "" || domain === "ai.onnx") &&
  constants.every(({ elementType, elements }) => {
    const bytes = elements * (ELEMENT_BYTES[elementType] ?? Number.NaN);
    return bytes < LARGE_CONSTANT || bytes % ALIGNMENT === 0;
  });
