import { Args } from "@oclif/core";
import { architectureFacts } from "../../../models/architectures/manifests.ts";
import type { Manifest } from "../../../models/package/manifest.ts";
import { otherNames } from "../../../models/package/package.ts";
import { BaseCommand } from "../../base-command.ts";
import { describe, modelOf, STATES } from "../../models.ts";
import { bytesText, table } from "../../output/model-text.ts";

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
    this.log(await showModel(args.model, flags.json));
  }
}

/** `decision model show`. @throws ServiceError INVALID_OPTION | INVALID_MODEL */
export async function showModel(nameOrFolder: string, isJson: boolean): Promise<string> {
  const model = await modelOf(nameOrFolder);
  const facts = await describe(model);
  if (isJson) return JSON.stringify(facts, null, 2);
  const { manifest } = model;
  const { type } = manifest.architecture;
  const rows = [
    ["id", manifest.id],
    ["other names", otherNames(manifest).join(", ")],
    ["version", `${manifest.version} of ${manifest.release_date}`],
    ["description", manifest.description],
    ["architecture", `${type}, ${architectureFacts(type).describe(manifest.architecture)}`],
    ["limits", limitsText(manifest)],
    ["temperature", String(manifest.temperature)],
    ["choices show", manifest.shows_labels ? "label: description" : "the description alone"],
    ...(facts.terms === null ? [] : [["terms", facts.terms]]),
    ...(manifest.origin
      ? [["published as", `${manifest.origin.repository} at ${manifest.origin.revision}`]]
      : []),
    ["state", facts.state === "published" ? `${STATES.published} ${facts.name}` : STATES[facts.state]],
    [facts.state === "published" ? "would be in" : "folder", model.folder],
  ];
  const files = facts.files.map(({ name, sha256, bytes }) => [
    name,
    bytes === null ? "" : bytesText(bytes),
    `sha256 ${sha256}`,
  ]);
  return `${table(rows)}\n\n${table(files)}`;
}

function limitsText({ limits }: Manifest): string {
  return `${limits.max_state_question_tokens} tokens of state and question, ${limits.max_candidate_tokens} of a candidate`;
}
