import { readKeyFile } from "../../../keys/key-ring.ts";
import { BaseCommand } from "../../base-command.ts";
import { keysFileOf, optionFlags } from "../../option-flags.ts";

export default class KeysList extends BaseCommand {
  static override summary = "List the names and rate limits of the keys in a file.";
  static override examples = [
    "<%= config.bin %> keys list --keys-file keys.txt",
    "<%= config.bin %> keys list --keys-file keys.txt --json",
  ];
  static override flags = {
    ...optionFlags(["keysFile"]),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(KeysList);
    const file = keysFileOf(await this.options(flags));
    const keys = readKeyFile(file);
    if (flags.json) {
      this.log(JSON.stringify({ keys: keys.map(({ digest: _, ...key }) => key) }, null, 2));
      return;
    }
    for (const { name, requestsPerMinute, tokensPerMinute } of keys) {
      const bounds = [
        ...(requestsPerMinute === undefined ? [] : [`${requestsPerMinute} requests a minute`]),
        ...(tokensPerMinute === undefined ? [] : [`${tokensPerMinute} tokens a minute`]),
      ];
      this.log([name, bounds.join(", ") || "without bound"].join("\t"));
    }
  }
}
