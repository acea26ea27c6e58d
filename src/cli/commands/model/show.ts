import { Args } from "@oclif/core";
import { BaseCommand } from "../../base-command.ts";

export default class ModelShow extends BaseCommand {
  static override summary = "Show a model's names, architecture, limits, files, sizes and folder.";
  static override examples = [
    "<%= config.bin %> model show gemmadecision",
    "<%= config.bin %> model show ./my-package --json",
  ];
  static override args = {
    model: Args.string({ required: true, description: "name of a known model, or the folder of a package" }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelShow);
    const { showModel } = await import("../../actions/models.ts");
    this.log(await showModel(args.model, flags.json));
  }
}
