import path from "node:path";
import { Args, Flags } from "@oclif/core";
import { invalidOption } from "../../../errors.ts";
import { flattened, graphIn } from "../../../models/inspect/flat-folder.ts";
import { type Examination, examineFiles, examinePackage } from "../../../models/inspect/package-faults.ts";
import { describeFolder, type ImportFacts, nameOf } from "../../../models/inspect/package-import.ts";
import { type WriteTarget, writePackage } from "../../../models/inspect/package-writing.ts";
import { isRepository } from "../../../models/package/names.ts";
import { BaseCommand } from "../../base-command.ts";
import { classifierFlags, readClassifierFlags } from "../../classifier-flags.ts";
import { verdict } from "../../models.ts";
import { numberOf } from "../../option-flags.ts";

export default class ModelImport extends BaseCommand {
  static override summary =
    "Make a model package: write manifest.json with the digest of every file of a folder.";
  static override description =
    "Accepts a zero-shot classifier or reranker as Optimum and Transformers.js store it (config.json, tokenizer.json, model.onnx or\n" +
    "onnx/model.onnx), a fine-tuned gemma3_text model with a scoring head (config.json, model.safetensors, joint_head.safetensors,\n" +
    "tokenizer.json), or its ONNX export (onnx_manifest.json of the format gemmadecision-onnx-v1).";
  static override examples = [
    "<%= config.bin %> model import ./my-model --name acme/Triage-270M --alias triage",
    "<%= config.bin %> model import ~/onnx-export --output ./package && <%= config.bin %> serve --model-path ./package",
  ];
  static override args = {
    folder: Args.string({ required: true, description: "folder with the model's files" }),
  };
  static override flags = {
    name: Flags.string({
      helpValue: "<namespace/name>",
      description: "the model's name [default: local/<name of the folder>]",
    }),
    alias: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: "<text>",
      description: "additional name for the model; repeatable",
    }),
    version: Flags.string({ default: "v1", helpValue: "<text>", description: "the model's version" }),
    "release-date": Flags.string({
      helpValue: "<YYYY-MM-DD>",
      description: "release date [default: today]",
    }),
    description: Flags.string({
      helpValue: "<text>",
      description: "one-line description, shown by /v1/models",
    }),
    temperature: Flags.string({
      helpValue: "<number>",
      description: "divisor of the scores in the softmax [default: that of GemmaDecision-270M]",
    }),
    "max-state-question-tokens": Flags.string({
      helpValue: "<tokens>",
      description: "token limit of state and question together [default: from the folder, else 2048]",
    }),
    "max-candidate-tokens": Flags.string({
      helpValue: "<tokens>",
      description: "token limit of a candidate [default: from the folder, else 768]",
    }),
    output: Flags.string({
      helpValue: "<folder>",
      description: "make the package in this folder, with copies of the files",
    }),
    ...classifierFlags,
    force: Flags.boolean({ description: "replace an existing manifest.json" }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelImport);
    if (flags.name !== undefined && !isRepository(flags.name))
      throw invalidOption(
        "--name: expected a namespace and a name, as in acme/Triage-270M (letters, digits and _, single dots and hyphens between), got another text.",
      );
    const date = flags["release-date"] ?? new Date().toISOString().slice(0, 10);
    if (!/^\d{4}-\d{2}-\d{2}$/.test(date) || Number.isNaN(Date.parse(date)))
      throw invalidOption(
        "--release-date: expected a date as YYYY-MM-DD, for example 2026-11-21, got another text.",
      );
    const { file, ...wish } = readClassifierFlags(flags);
    const tokens = (flag: "max-state-question-tokens" | "max-candidate-tokens") =>
      numberOf(flag, flags[flag], { leastWhole: 1 });
    const facts = {
      wish,
      name: flags.name,
      aliases: flags.alias ?? [],
      version: flags.version,
      releaseDate: date,
      description: flags.description,
      temperature: numberOf("temperature", flags.temperature),
      maxStateQuestionTokens: tokens("max-state-question-tokens"),
      maxCandidateTokens: tokens("max-candidate-tokens"),
    };
    const { text, isFaultless } = await importFolder(args.folder, facts, {
      file,
      to: flags.output,
      mayReplace: flags.force,
      isJson: flags.json,
    });
    this.log(text);
    if (!isFaultless) this.exit(1);
  }
}

interface ImportCommand {
  /** Path of a classifier's graph in the folder. */
  readonly file?: string | undefined;
  readonly to?: string | undefined;
  readonly mayReplace: boolean;
  readonly isJson: boolean;
}

/** Writes a package, unless it could not be served. @returns its faults in that case */
async function writeFrom(
  folder: string,
  facts: ImportFacts,
  target: WriteTarget,
): Promise<Examination | undefined> {
  const manifest = await describeFolder(folder, facts);
  const examined = await examineFiles(folder, manifest);
  if (examined.faults.length > 0) return examined;
  await writePackage(folder, manifest, target);
  return undefined;
}

/** `decision model import`. @throws ServiceError INVALID_OPTION | INVALID_MODEL */
export async function importFolder(
  folder: string,
  facts: ImportFacts,
  { file, to = folder, mayReplace, isJson }: ImportCommand,
) {
  // an empty path would be the current folder
  if (folder === "" || to === "") throw invalidOption("expected a folder, got an empty text.");
  const graph = file ?? (await graphIn(folder));
  const refused =
    graph === undefined
      ? await writeFrom(folder, facts, { to, mayReplace })
      : await flattened(folder, graph, (flat) =>
          writeFrom(flat, { ...facts, name: facts.name ?? nameOf(folder) }, { to, mayReplace }),
        );
  if (refused !== undefined) return verdict(refused, isJson);
  const { isFaultless, text } = verdict(await examinePackage(to), isJson);
  if (isJson) return { isFaultless, text };
  const written = `wrote ${path.join(path.resolve(to), "manifest.json")}`;
  return {
    isFaultless,
    text: [written, text, ...(isFaultless ? [`serve it: decision serve --model-path ${to}`] : [])].join("\n"),
  };
}
