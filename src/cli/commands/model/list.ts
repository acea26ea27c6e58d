import { BaseCommand } from "../../base-command.ts";

export default class ModelList extends BaseCommand {
  static override summary = "List known models and whether they are on this machine.";
  static override examples = ["<%= config.bin %> model list", "<%= config.bin %> model list --json"];

  async run(): Promise<void> {
    const { flags } = await this.parse(ModelList);
    const { listModels } = await import("../../actions/models.ts");
    this.log(await listModels(flags.json));
  }
}
