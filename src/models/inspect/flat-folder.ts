import { constants, copyFile, link, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { invalidModel } from "../../errors.ts";
import { pairClassifier } from "../architectures/pair-classifier/facts.ts";
import { namesIn } from "../package/folder-files.ts";
import { locateFile } from "../package/package-file.ts";

const GRAPH = "model.onnx";
/** Folder of the graphs in the layout of Transformers.js. */
const GRAPHS = "onnx";
const DESCRIPTIONS = [...pairClassifier.files.filter((name) => name !== GRAPH), "tokenizer_config.json"];

/**
 * The graph of a folder in the layout of Transformers.js: `onnx/model.onnx`.
 *
 * @returns its path in the folder; undefined for any other layout
 * @throws ServiceError INVALID_MODEL if the user must choose
 */
export async function graphIn(folder: string): Promise<string | undefined> {
  const names = await namesIn(folder);
  if (names.includes(GRAPH) || names.includes("onnx_manifest.json") || !names.includes(GRAPHS))
    return undefined;
  const graphs = (await namesIn(path.join(folder, GRAPHS))).filter((name) => name.endsWith(".onnx"));
  const [only] = graphs;
  if (graphs.includes(GRAPH)) return `${GRAPHS}/${GRAPH}`;
  if (graphs.length === 1) return `${GRAPHS}/${only}`;
  if (graphs.length === 0) return undefined;
  throw invalidModel(
    `${folder} has several graphs. Choose one with --file: ${graphs.map((name) => `${GRAPHS}/${name}`).join(", ")}.`,
  );
}

/**
 * Calls back with a temporary folder that has the files of a classifier as a package has them: without folders, the
 * graph as `model.onnx`. They are links where the file system allows it.
 *
 * @param graph path of the graph in the folder
 * @throws ServiceError INVALID_MODEL; what the callback throws
 */
export async function flattened<Result>(
  folder: string,
  graph: string,
  use: (flat: string) => Promise<Result>,
): Promise<Result> {
  const { factsOf } = await import("../architectures/own-graph.ts");
  const flat = await mkdtemp(path.join(tmpdir(), "import-"));
  const place = async (from: string, name: string) => {
    const located = await locateFile(folder, from);
    if (located.fault === "missing" && name !== GRAPH) return; // told by what the package lacks
    if (located.fault !== undefined) throw invalidModel(`${from} in ${folder} ${located.why}.`);
    const target = path.join(flat, name);
    await link(located.path, target).catch(() => copyFile(located.path, target, constants.COPYFILE_FICLONE));
  };
  try {
    const beside = path.posix.dirname(graph);
    for (const name of DESCRIPTIONS) await place(name, name);
    await place(graph, GRAPH);
    for (const name of factsOf(await readFile(path.join(flat, GRAPH)), GRAPH).externalFiles) {
      if (path.basename(name) !== name)
        throw invalidModel(
          `${graph} refers to the file ${JSON.stringify(name.slice(0, 100))}, which is not beside it.`,
        );
      await place(path.posix.join(beside, name), name);
    }
    return await use(flat);
  } finally {
    await rm(flat, { recursive: true, force: true });
  }
}
