import { Flags } from "@oclif/core";
import { invalidOption } from "../../../errors.ts";
import { BaseCommand } from "../../base-command.ts";
import { optionFlags } from "../../option-flags.ts";

export default class ModelExport extends BaseCommand {
  static override summary = "Write a model's graph for another server, such as Triton or KServe.";
  static override description =
    "The service then computes there: decision serve --backend remote --remote-url URL. docs/remote.md explains it.";
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
      description: "triton: a model repository; kserve: this and an InferenceService; onnx: the graph alone",
    }),
    output: Flags.string({
      required: true,
      helpValue: "<folder>",
      description: "folder to write, new or empty",
    }),
    backend: Flags.option({ options: ["onnx", "native"] as const })({
      default: "onnx",
      description:
        "what computes on the server: onnx: ONNX Runtime; native: PyTorch in Triton's Python backend, only with --format triton",
    }),
    precision: Flags.option({ options: ["int8", "fp32", "bf16", "fp16"] as const })({
      description:
        "arithmetic: int8 (for CPUs, the default) or fp32 of onnx; fp32 (the default), bf16 or fp16 of native",
    }),
    weights: Flags.option({ options: ["u8u8", "u8s8"] as const })({
      default: "u8u8",
      description:
        "of int8: u8u8 is exact on every CPU; u8s8 is faster, and exact on CPUs with VNNI or AMX only",
    }),
    name: Flags.string({
      default: "",
      helpValue: "<name>",
      description: "name on the server; else the model's short name",
    }),
    instances: Flags.integer({
      default: 1,
      min: 1,
      max: 256,
      description: "copies of the model that run side by side",
    }),
    threads: Flags.integer({ default: 1, min: 1, max: 16, description: "threads of a run on a CPU" }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(ModelExport);
    if (flags.output === "") throw invalidOption("--output takes a folder, not an empty text.");
    const all: Record<string, unknown> = flags;
    const chosen = { model: all.model, "model-path": all["model-path"] };
    const { model, modelPath } = await this.options(chosen);
    const { exportModel } = await import("../../actions/export-model.ts");
    this.log(await exportModel({ ...flags, model, modelPath }, flags.json));
  }
}
