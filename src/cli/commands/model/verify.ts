import { Args } from "@oclif/core";
import { BaseCommand } from "../../base-command.ts";

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
    const { verifyModel } = await import("../../actions/models.ts");
    const { text, isFaultless } = await verifyModel(args.model, flags.json);
    this.log(text);
    if (!isFaultless) this.exit(1);
  }
}
