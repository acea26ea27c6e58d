import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Flags } from "@oclif/core";
import { invalidOption, messageOf, ServiceError } from "../../../errors.ts";
import { weightFiles } from "../../../models/architectures/manifests.ts";
import {
  type WholeGraph,
  type WholePrecision,
  wholeGraph,
  writeWholeGraph,
} from "../../../models/architectures/whole-graph.ts";
import type { ModelPackage } from "../../../models/package/package.ts";
import { shortName } from "../../../models/store/store.ts";
import { packageRoot } from "../../../package-root.ts";
import { openServedModel } from "../../../served-model.ts";
import { BaseCommand } from "../../base-command.ts";
import { optionFlags } from "../../option-flags.ts";

export default class ModelExport extends BaseCommand {
  static override summary = "Export a model for an inference server, such as Triton or KServe.";
  static override description =
    "To use that server, run `decision serve --backend remote --remote-url URL`. docs/backends.md explains it.";
  static override examples = [
    "<%= config.bin %> model export --format triton --output repository",
    "<%= config.bin %> model export --format kserve --output served --precision fp32",
    "<%= config.bin %> model export --format onnx --output graph --model gemmadecision",
    "<%= config.bin %> model export --format triton --backend native --output repository --precision bf16",
  ];
  static override flags = {
    ...optionFlags(["model", "modelPath"]),
    format: Flags.option({ options: ["triton", "kserve", "onnx"] as const })({
      required: true,
      description:
        "triton: a model repository; kserve: a model repository and an InferenceService; onnx: only the graph",
    }),
    output: Flags.string({
      required: true,
      helpValue: "<folder>",
      description: "folder to write, new or empty",
    }),
    backend: Flags.option({ options: ["onnx", "native"] as const })({
      default: "onnx",
      description:
        "runtime on the server: onnx: ONNX Runtime; native: PyTorch in Triton's Python backend, only with --format triton",
    }),
    precision: Flags.option({ options: ["int8", "fp32", "bf16", "fp16"] as const })({
      description:
        "number format: with --backend onnx int8 (for CPUs, the default) or fp32; with native fp32 (the default), bf16 or fp16",
    }),
    weights: Flags.option({ options: ["u8u8", "u8s8"] as const })({
      default: "u8u8",
      description:
        "layout of int8 weights: u8u8 is exact on every CPU; u8s8 is faster, but exact only on CPUs with VNNI or AMX",
    }),
    name: Flags.string({
      default: "",
      helpValue: "<name>",
      description: "name of the model on the server [default: its short name]",
    }),
    instances: Flags.integer({
      default: 1,
      min: 1,
      max: 256,
      description: "number of copies of the model that run in parallel",
    }),
    threads: Flags.integer({ default: 1, min: 1, max: 16, description: "threads per run on a CPU" }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(ModelExport);
    if (flags.output === "") throw invalidOption("--output: expected a folder, got an empty text.");
    const all: Record<string, unknown> = flags;
    const chosen = { model: all.model, "model-path": all["model-path"] };
    const { model, modelPath } = await this.options(chosen);
    this.log(await exportModel({ ...flags, model, modelPath }, flags.json));
  }
}

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

const TRITON_TYPES: Readonly<Record<string, string>> = {
  bool: "TYPE_BOOL",
  int32: "TYPE_INT32",
  int64: "TYPE_INT64",
  float32: "TYPE_FP32",
  uint8: "TYPE_UINT8",
};

export interface TritonSettings {
  readonly backend: "onnx" | "native";
  readonly precision: string;
  readonly instances: number;
  readonly threads: number;
}

/**
 * `config.pbtxt` of a Triton model repository: variable sizes, the given number of instances, no batching by Triton.
 */
export function tritonConfig(
  name: string,
  { inputs, outputs, digest }: Pick<WholeGraph, "inputs" | "outputs" | "digest">,
  { backend, precision, instances, threads }: TritonSettings,
): string {
  const list = (tensors: WholeGraph["inputs"]) =>
    tensors
      .map(({ name, type, shape }) => {
        const dims = shape.map((size) => (typeof size === "number" ? size : -1)).join(", ");
        return `  { name: "${name}" data_type: ${TRITON_TYPES[type]} dims: [ ${dims} ] }`;
      })
      .join(",\n");
  const runs =
    backend === "native"
      ? 'backend: "python"'
      : 'backend: "onnxruntime"\ndefault_model_filename: "model.onnx"';
  const parameters = {
    // the name that onnxruntime uses
    ...(backend === "native" ? { threads, precision } : { intra_op_thread_count: threads }),
    decision_digest: Buffer.from(digest).toString("hex"),
  };
  return `# Written by \`decision model export\`.
name: "${name}"
${runs}
# a request is already a batch of packed trees of any size
max_batch_size: 0
input [
${list(inputs)}
]
output [
${list(outputs)}
]
instance_group [ { count: ${instances} kind: KIND_AUTO } ]
${Object.entries(parameters)
  .map(([key, value]) => `parameters { key: "${key}" value: { string_value: "${value}" } }`)
  .join("\n")}
`;
}

/** A KServe InferenceService that serves the repository with Triton. */
export function inferenceService(name: string): string {
  // names that KServe accepts:
  // https://github.com/kserve/kserve/blob/v0.19.0/pkg/apis/serving/v1beta1/inference_service_validation.go
  const label = name
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .replace(/^(?=[^a-z])/, "model-");
  return `# Written by \`decision model export\`. Copy the folder repository to storageUri.
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: ${label}
spec:
  predictor:
    model:
      modelFormat:
        name: triton
      protocolVersion: v2
      storageUri: pvc://models/repository
      resources:
        requests: { cpu: "2", memory: 2Gi }
        limits: { cpu: "2", memory: 2Gi }
`;
}
