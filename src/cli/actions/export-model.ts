import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { invalidOption, messageOf, ServiceError } from "../../errors.ts";
import { weightFiles } from "../../models/architectures/manifests.ts";
import {
  type WholeGraph,
  type WholePrecision,
  wholeGraph,
  writeWholeGraph,
} from "../../models/architectures/whole-graph.ts";
import type { ModelPackage } from "../../models/package/package.ts";
import { shortName } from "../../models/store/store.ts";
import { packageRoot } from "../../package-root.ts";
import { openServedModel } from "../../served-model.ts";
import { inferenceService, tritonConfig } from "../output/serving-files.ts";

export interface ExportRequest {
  readonly format: "triton" | "kserve" | "onnx";
  /** The backend of the exported model on the server. */
  readonly backend: "onnx" | "native";
  readonly output: string;
  /** Default: the first precision that `backend` supports. */
  readonly precision?: WholePrecision | undefined;
  /** Format of int8 weights. */
  readonly weights: "u8u8" | "u8s8";
  readonly name: string;
  readonly model: string;
  readonly modelPath: string;
  readonly instances: number;
  readonly threads: number;
}

const TAKEN: Readonly<Record<ExportRequest["backend"], readonly [WholePrecision, ...WholePrecision[]]>> = {
  onnx: ["int8", "fp32"],
  native: ["fp32", "bf16", "fp16"],
};

/**
 * `decision model export`: writes a model's graph for another server, with that server's configuration files.
 *
 * @throws ServiceError INVALID_OPTION for a folder that is not empty | INVALID_MODEL | BACKEND_FAILED if it cannot be
 * written
 */
export async function exportModel(request: ExportRequest, isJson: boolean): Promise<string> {
  const { format, output, backend } = request;
  const precision = precisionOf(request);
  const modelPackage = await openServedModel(request);
  const name = request.name || shortName(modelPackage.manifest);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
    throw invalidOption(
      "--name must begin with a letter or digit and consist of letters, digits, dots, dashes and underscores.",
    );
  if ((await readdir(output).catch(() => [])).length > 0)
    throw invalidOption(`--output: expected a new or empty folder, got ${output}, which is not empty.`);
  const repository = format === "kserve" ? path.join(output, "repository") : output;
  const folder = format === "onnx" ? output : path.join(repository, name, "1");
  const files: string[] = [];
  const write = async (file: string, text: string) => {
    await writeFile(file, text);
    files.push(path.relative(output, file));
  };
  let graph: WholeGraph;
  try {
    await mkdir(folder, { recursive: true });
    const isNative = backend === "native";
    graph = isNative
      ? await wholeGraph(modelPackage, precision)
      : await writeWholeGraph(modelPackage, precision === "fp32" ? "fp32" : request.weights, folder);
    const written = isNative ? await writeNativeModel(modelPackage, folder) : ["model.onnx", "weights.bin"];
    files.push(...written.map((file) => path.relative(output, path.join(folder, file))));
    if (format !== "onnx") {
      const config = tritonConfig(name, graph, { ...request, precision });
      await write(path.join(repository, name, "config.pbtxt"), config);
    }
    if (format === "kserve") await write(path.join(output, "inference-service.yaml"), inferenceService(name));
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const why = messageOf(cause);
    throw new ServiceError("BACKEND_FAILED", `The model cannot be written to ${output}: ${why}.`, { cause });
  }
  const digest = Buffer.from(graph.digest).toString("hex");
  if (isJson)
    return JSON.stringify(
      { model: modelPackage.manifest.id, name, format, backend, precision, digest, output, files },
      null,
      2,
    );
  return [
    `${modelPackage.manifest.id} in ${precision}, as ${name}, in ${output}:`,
    ...files.map((file) => `  ${file}`),
    `digest ${digest}`,
  ].join("\n");
}

/** @throws ServiceError INVALID_OPTION for an invalid combination */
function precisionOf({ format, backend, precision }: ExportRequest): WholePrecision {
  if (backend === "native" && format !== "triton")
    throw invalidOption(`--backend native needs --format triton, not ${format}.`);
  const taken = TAKEN[backend];
  const chosen = precision ?? taken[0];
  if (taken.includes(chosen)) return chosen;
  throw invalidOption(
    `--backend ${backend} does not support --precision ${chosen}; use one of ${taken.join(", ")}.`,
  );
}

/** Writes the model for Triton's Python backend, with its code and weights. @returns the names of the files */
async function writeNativeModel(modelPackage: ModelPackage, folder: string): Promise<readonly string[]> {
  const code = path.join(packageRoot, "native");
  const modules = (await readdir(path.join(code, "decision_native"))).filter((name) => name.endsWith(".py"));
  const weights = ["manifest.json", ...weightFiles(modelPackage.manifest.architecture.type)];
  const sources = new Map([
    ["model.py", path.join(code, "triton/model.py")],
    ...modules.map((name) => copyOf("decision_native", name, path.join(code, "decision_native"))),
    ...weights.map((name) => copyOf("package", name, modelPackage.folder)),
  ]);
  for (const below of ["decision_native", "package"]) await mkdir(path.join(folder, below));
  for (const [name, source] of sources) await copyFile(source, path.join(folder, name));
  return [...sources.keys()];
}

const copyOf = (below: string, name: string, from: string): [string, string] => [
  path.join(below, name),
  path.join(from, name),
];
