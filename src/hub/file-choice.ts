import { isPlainFileName } from "../models/package/names.ts";
import { failed } from "./failures.ts";
import { printable, type Repository, type RepositoryFile } from "./repository.ts";

/** The files of a repository that make a package. */
export interface ChosenFiles {
  /** Files by their name in the package. */
  readonly descriptions: ReadonlyMap<string, RepositoryFile>;
  readonly graph: RepositoryFile;
  /** Other graphs that `--file` could name. */
  readonly otherGraphs: readonly RepositoryFile[];
}

const REQUIRED = ["config.json", "tokenizer.json"];
const OPTIONAL = ["tokenizer_config.json"];
/** Names in a package that no file of data can have. */
const OTHER_FILES = [...REQUIRED, ...OPTIONAL, "manifest.json", "model.onnx"];

/**
 * The graph that is fetched unless the user names one: the first of these. The whole weights come first, because only they are
 * known to answer as the model's card says. Quantized files of others can be much worse, and what they answer may depend on the
 * processor; whoever wants one names it and compares (`decision evaluate --compare`).
 *
 * The names are those of Optimum and Transformers.js.
 *
 * @see https://huggingface.co/docs/transformers.js/guides/dtypes
 */
const GRAPHS = [
  "model",
  "model_fp16",
  "model_quantized",
  "model_uint8",
  "model_int8",
  "model_q4",
  "model_bnb4",
  "model_q4f16",
];
const FOLDERS = ["", "onnx/"];

/**
 * Chooses what to fetch.
 *
 * @param wanted path of the graph, if the user names one
 * @throws ServiceError PULL_FAILED naming what the repository lacks
 */
export function chooseFiles({ repository, files }: Repository, wanted?: string): ChosenFiles {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const graphs = files.filter(({ path }) => path.endsWith(".onnx"));
  if (graphs.length === 0) throw failed(noGraph(repository));
  const graph = wanted === undefined ? defaultGraph(graphs) : byPath.get(wanted);
  if (graph === undefined || !graph.path.endsWith(".onnx")) {
    const found = graphs.map(({ path }) => printable(path)).sort();
    const what =
      wanted === undefined
        ? `no ONNX file of a usual name (${GRAPHS[0]}.onnx)`
        : `no ONNX file ${printable(wanted)}`;
    throw failed(
      `${repository} has ${what}. Choose one with --file: ${found.slice(0, 12).join(", ")}${found.length > 12 ? ` and ${found.length - 12} more` : ""}.`,
    );
  }
  const descriptions = new Map<string, RepositoryFile>();
  for (const name of [...REQUIRED, ...OPTIONAL]) {
    const file = byPath.get(name) ?? byPath.get(folderOf(graph.path) + name);
    if (file !== undefined) descriptions.set(name, file);
    else if (REQUIRED.includes(name)) throw failed(missingDescription(repository, name));
  }
  return { descriptions, graph, otherGraphs: graphs.filter((other) => other !== graph) };
}

function defaultGraph(graphs: readonly RepositoryFile[]): RepositoryFile | undefined {
  const paths = GRAPHS.flatMap((name) => FOLDERS.map((folder) => `${folder}${name}.onnx`));
  const usual = paths.flatMap((path) => graphs.filter((graph) => graph.path === path));
  return usual[0] ?? (graphs.length === 1 ? graphs[0] : undefined);
}

/**
 * The files with constants that a graph refers to by name, beside it.
 *
 * @throws ServiceError PULL_FAILED if one is in another folder or missing
 */
export function externalFilesOf(
  { repository, files }: Repository,
  graph: RepositoryFile,
  names: readonly string[],
): readonly RepositoryFile[] {
  return names.map((name) => {
    const file = files.find(({ path }) => path === folderOf(graph.path) + name);
    if (file !== undefined && isPlainFileName(name) && !OTHER_FILES.includes(name)) return file;
    throw failed(
      `${graph.path} of ${repository} refers to the file ${printable(name)}, which is no data file beside it.`,
    );
  });
}

/** Folder of a path with its `/`, or "". */
const folderOf = (path: string) => path.slice(0, path.lastIndexOf("/") + 1);

/** File name of a path. */
export const baseName = (path: string) => path.slice(path.lastIndexOf("/") + 1);

function noGraph(repository: string): string {
  return `${repository} has no ONNX file. Convert it with Optimum (pip install optimum-onnx), and import the folder: optimum-cli export onnx --model ${repository} --task text-classification FOLDER && decision model import FOLDER --name ${repository}.`;
}

function missingDescription(repository: string, name: string): string {
  const advice =
    name === "tokenizer.json"
      ? " Save the fast tokenizer of transformers beside it: AutoTokenizer.from_pretrained(...).save_pretrained(FOLDER)."
      : "";
  return `${repository} has no ${name}, which every model needs.${advice}`;
}
