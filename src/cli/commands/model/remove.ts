import { tmpdir } from "node:os";
import path from "node:path";
import { Args } from "@oclif/core";
import { invalidOption } from "../../../errors.ts";
import { homeFolder } from "../../../home.ts";
import { graphFolders, removeGraphs } from "../../../models/graph/graph-cache.ts";
import { findModel, removePulled } from "../../../models/store/store.ts";
import { modelShelves } from "../../../served-model.ts";
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
    this.log(await removeModel(args.model, flags.json));
  }
}

/** `decision model remove`. @throws ServiceError INVALID_OPTION | PULL_FAILED */
export async function removeModel(name: string, isJson: boolean): Promise<string> {
  const shelves = modelShelves();
  const { manifest, source } = await findModel(name, shelves);
  if (source === "embedded")
    throw invalidOption(`${manifest.id} is part of this installation and cannot be removed.`);
  const pulled = await removePulled(shelves.store, manifest.id);
  const [withoutRevision = ""] = manifest.id.split("@");
  const { cache } = graphFolders(process.env, homeFolder(), tmpdir());
  const removed = [...pulled, ...(await removeGraphs(withoutRevision, cache))];
  if (isJson) return JSON.stringify({ id: manifest.id, removed }, null, 2);
  return removed.length === 0
    ? `${manifest.id} is not on this machine`
    : `removed ${manifest.id} from ${path.dirname(removed[0] ?? "")}`;
}
