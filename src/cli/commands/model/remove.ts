import { Args, Flags } from "@oclif/core";
import { BaseCommand } from "../../base-command.ts";

export default class ModelRemove extends BaseCommand {
  static override summary = "Delete a pulled model, complete or not, and the graphs made from it.";
  static override examples = ["<%= config.bin %> model remove gemmadecision"];
  static override args = {
    model: Args.string({ required: true, description: "name of a pulled model" }),
  };
  static override flags = { json: Flags.boolean({ description: "print the result as JSON" }) };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelRemove);
    const { removeModel } = await import("../../actions/models.ts");
    this.log(await removeModel(args.model, flags.json));
  }
}
