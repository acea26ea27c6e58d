import { Args } from "@oclif/core";
import { invalidOption } from "../../../errors.ts";
import { examinePackage } from "../../../models/inspect/package-faults.ts";
import { openServedManifest } from "../../../served-model.ts";
import { BaseCommand } from "../../base-command.ts";
import { isFolder, verdict } from "../../models.ts";

export default class ModelVerify extends BaseCommand {
  static override summary = "Check a model package and explain its faults.";
  static override description =
    "Checks the manifest, every file's digest, the weights (shapes, types, no NaN), the tokenizer and the targets of links.\n" +
    "Exit code: 0 it can be served, 1 it has faults, 2 wrong usage. docs/models.md describes the format.";
  static override examples = [
    "<%= config.bin %> model verify gemmadecision",
    "<%= config.bin %> model verify ./my-package --json",
  ];
  static override args = {
    model: Args.string({
      required: true,
      description: "name of a model on this machine, or the folder of a package",
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelVerify);
    const { text, isFaultless } = await verifyModel(args.model, flags.json);
    this.log(text);
    if (!isFaultless) this.exit(1);
  }
}

/** `decision model verify`. @throws ServiceError INVALID_OPTION | INVALID_MODEL (it is not on this machine) */
export async function verifyModel(nameOrFolder: string, isJson: boolean) {
  return verdict(await examinePackage(await folderOf(nameOrFolder)), isJson);
}

async function folderOf(nameOrFolder: string): Promise<string> {
  if (await isFolder(nameOrFolder)) return nameOrFolder;
  // `serve` accepts an empty name for the embedded model; here it is probably an unset shell variable
  if (nameOrFolder === "") throw invalidOption("expected a model's name or folder, got an empty text.");
  return (await openServedManifest({ model: nameOrFolder })).folder;
}
