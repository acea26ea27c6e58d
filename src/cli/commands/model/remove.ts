import { Args, Flags } from "@oclif/core";
import { BaseCommand } from "../../base-command.ts";

export default class ModelRemove extends BaseCommand {
  static override summary =
    "Delete what a pull has put on disk, finished or not, and what was made of it since.";
  static override examples = ["<%= config.bin %> model remove gemmadecision"];
  static override args = {
    model: Args.string({ required: true, description: "any name of a pulled model" }),
  };
  static override flags = { json: Flags.boolean({ description: "print everything as JSON" }) };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelRemove);
    const { removeModel } = await import("../../actions/models.ts");
    this.log(await removeModel(args.model, flags.json));
  }
}
