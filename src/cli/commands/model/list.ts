import { Flags } from "@oclif/core";
import { BaseCommand } from "../../base-command.ts";

export default class ModelList extends BaseCommand {
  static override summary = "List the models that this installation knows, and which of them are on disk.";
  static override examples = ["<%= config.bin %> model list", "<%= config.bin %> model list --json"];
  static override flags = { json: Flags.boolean({ description: "print everything as JSON" }) };

  async run(): Promise<void> {
    const { flags } = await this.parse(ModelList);
    const { listModels } = await import("../../actions/models.ts");
    this.log(await listModels(flags.json));
  }
}
