import { readApiKey } from "../../options/exposure.ts";
import type { Source } from "../../options/resolve.ts";
import { OPTION_TABLE, type OptionName } from "../../options/table.ts";
import { BaseCommand } from "../base-command.ts";
import { configFlag, optionFlags } from "../option-flags.ts";

export default class Config extends BaseCommand {
  static override summary = "Print the effective options of `decision serve`, and where each comes from.";
  static override examples = [
    "<%= config.bin %> config",
    "<%= config.bin %> config --config production.yaml --json",
  ];
  static override flags = {
    ...optionFlags(Object.keys(OPTION_TABLE) as OptionName[]),
    ...configFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Config);
    const { options, sources } = await this.resolved(flags);
    const hasKey = readApiKey(process.env) !== undefined;
    const rows = (Object.keys(OPTION_TABLE) as OptionName[]).map((name) => ({
      option: OPTION_TABLE[name].flag,
      value: options[name],
      source: sources[name],
    }));
    if (flags.json) {
      this.log(JSON.stringify({ options: rows, apiKey: hasKey ? "set" : "not set" }, null, 2));
      return;
    }
    for (const { option, value, source } of rows)
      this.log(`${option.padEnd(22)} ${JSON.stringify(value).padEnd(16)} ${sourceText(source)}`);
    this.log(`${"(API key)".padEnd(22)} ${(hasKey ? "set" : "not set").padEnd(16)} DECISION_API_KEY`);
  }
}

function sourceText({ kind, name }: Source): string {
  return kind === "default" ? kind : `${kind} ${name}`;
}
