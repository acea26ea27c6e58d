import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { ServiceError } from "../../errors.ts";
import { type WholeGraph, writeWholeGraph } from "../../models/graph/whole-graph.ts";
import { shortName } from "../../models/store/store.ts";
import { invalidOption } from "../../options/resolve.ts";
import { openServedModel } from "../../served-model.ts";
import { inferenceService, tritonConfig } from "../output/serving-files.ts";

export interface ExportRequest {
  readonly format: "triton" | "kserve" | "onnx";
  readonly output: string;
  readonly precision: "int8" | "fp32";
  /** Of int8. */
  readonly weights: "u8u8" | "u8s8";
  readonly name: string;
  readonly model: string;
  readonly modelPath: string;
  readonly instances: number;
  readonly threads: number;
}

/**
 * `decision model export`: the graph that another server can hold, with the files that this server reads.
 *
 * @throws ServiceError INVALID_OPTION for a folder that has something in it | INVALID_MODEL | BACKEND_FAILED if it cannot be written
 */
export async function exportModel(request: ExportRequest, isJson: boolean): Promise<string> {
  const { format, output, precision, weights } = request;
  const modelPackage = await openServedModel(request);
  const name = request.name || shortName(modelPackage.manifest);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
    throw invalidOption(
      "--name takes letters, digits, dots, dashes and underscores, and begins with a letter or digit.",
    );
  if ((await readdir(output).catch(() => [])).length > 0)
    throw invalidOption(`--output takes a folder that is not there or empty: ${output} has something in it.`);
  const repository = format === "kserve" ? path.join(output, "repository") : output;
  const folder = format === "onnx" ? output : path.join(repository, name, "1");
  const form = precision === "fp32" ? "fp32" : weights;
  const files: string[] = [];
  const write = async (file: string, text: string) => {
    await writeFile(file, text);
    files.push(path.relative(output, file));
  };
  let graph: WholeGraph;
  try {
    await mkdir(folder, { recursive: true });
    graph = await writeWholeGraph(modelPackage, form, folder);
    files.push(
      ...["model.onnx", "weights.bin"].map((file) => path.relative(output, path.join(folder, file))),
    );
    if (format !== "onnx")
      await write(path.join(repository, name, "config.pbtxt"), tritonConfig(name, graph, request));
    if (format === "kserve") await write(path.join(output, "inference-service.yaml"), inferenceService(name));
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError("BACKEND_FAILED", `The model cannot be written to ${output}: ${why}.`, { cause });
  }
  const digest = Buffer.from(graph.digest).toString("hex");
  if (isJson)
    return JSON.stringify(
      { model: modelPackage.manifest.id, name, format, precision, digest, output, files },
      null,
      2,
    );
  return [
    `${modelPackage.manifest.id} in ${precision}, as ${name}, in ${output}:`,
    ...files.map((file) => `  ${file}`),
    `digest ${digest}`,
  ].join("\n");
}
