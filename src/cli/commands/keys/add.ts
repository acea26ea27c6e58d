import { Args, Flags } from "@oclif/core";
import { addKey } from "../../../keys/change-key-file.ts";
import { BaseCommand } from "../../base-command.ts";
import { keysFileOf, optionFlags } from "../../option-flags.ts";

export default class KeysAdd extends BaseCommand {
  static override summary = "Create a key, and add its digest to the keys file.";
  static override description =
    "Prints the key once; the file contains only its SHA-256 digest. A running service with this keys file accepts the key " +
    "within a second.";
  static override examples = [
    "<%= config.bin %> keys add web --keys-file keys.txt",
    "<%= config.bin %> keys add web --keys-file keys.txt --requests-per-minute 600 --tokens-per-minute 200000",
  ];
  static override args = { name: Args.string({ required: true, description: "name of the key, for logs" }) };
  static override flags = {
    ...optionFlags(["keysFile"]),
    "requests-per-minute": Flags.integer({
      min: 1,
      description: "rate limit of the key in requests per minute [default: none]",
    }),
    "tokens-per-minute": Flags.integer({
      min: 1,
      description: "rate limit of the key in input tokens per minute [default: none]",
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysAdd);
    const file = keysFileOf(await this.options(flags));
    const { key, isNewFile } = await addKey(file, {
      name: args.name,
      requestsPerMinute: flags["requests-per-minute"],
      tokensPerMinute: flags["tokens-per-minute"],
    });
    this.log(flags.json ? JSON.stringify({ name: args.name, key }) : key);
    if (isNewFile)
      this.logToStderr(`created ${file}. Its owner alone may read it: let the service's user read it, too.`);
  }
}
