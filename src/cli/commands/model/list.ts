import { knownModels } from "../../../models/store/store.ts";
import { modelShelves } from "../../../served-model.ts";
import { BaseCommand } from "../../base-command.ts";
import { describe, STATES } from "../../models.ts";
import { bytesText, table } from "../../output/model-text.ts";

export default class ModelList extends BaseCommand {
  static override summary = "List known models and whether they are on this machine.";
  static override examples = ["<%= config.bin %> model list", "<%= config.bin %> model list --json"];

  async run(): Promise<void> {
    const { flags } = await this.parse(ModelList);
    this.log(await listModels(flags.json));
  }
}

/** `decision model list`. @throws ServiceError INVALID_MODEL */
export async function listModels(isJson: boolean): Promise<string> {
  const known = await Promise.all((await knownModels(modelShelves())).map(describe));
  if (isJson) return JSON.stringify({ models: known }, null, 2);
  const rows = known.map(({ name, id, state, bytes }) => [
    name,
    state === "published" ? `${STATES.published} ${name}` : STATES[state],
    bytes === null ? "" : bytesText(bytes),
    id,
  ]);
  return table([["name", "state", "size", "id"], ...rows]);
}
