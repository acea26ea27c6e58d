import { Flags } from "@oclif/core";
import { invalidOption } from "../../../errors.ts";
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
    const { exportModel } = await import("../../actions/export-model.ts");
    this.log(await exportModel({ ...flags, model, modelPath }, flags.json));
  }
}
