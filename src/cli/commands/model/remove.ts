import { Args } from "@oclif/core";
import { BaseCommand } from "../../base-command.ts";

export default class ModelRemove extends BaseCommand {
  static override summary = "Delete a pulled model, complete or not, and the graphs made from it.";
  static override examples = [
    "<%= config.bin %> model remove gemmadecision",
    "<%= config.bin %> model remove gemmadecision --json",
  ];
  static override args = {
    model: Args.string({ required: true, description: "name of a pulled model" }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelRemove);
    const { removeModel } = await import("../../actions/models.ts");
    this.log(await removeModel(args.model, flags.json));
  }
}
