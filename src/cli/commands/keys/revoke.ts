import { Args } from "@oclif/core";
import { revokeKey } from "../../../keys/change-key-file.ts";
import { BaseCommand } from "../../base-command.ts";
import { keysFileOf, optionFlags } from "../../option-flags.ts";

export default class KeysRevoke extends BaseCommand {
  static override summary = "Remove a key from the keys file.";
  static override description =
    "A running service with this keys file refuses the key within a second. The file keeps its owner, group and mode.";
  static override examples = [
    "<%= config.bin %> keys revoke web --keys-file keys.txt",
    "DECISION_KEYS_FILE=keys.txt <%= config.bin %> keys revoke web",
  ];
  static override args = { name: Args.string({ required: true, description: "name of the key" }) };
  static override flags = optionFlags(["keysFile"]);

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysRevoke);
    const file = keysFileOf(await this.options(flags));
    await revokeKey(file, args.name);
    this.log(flags.json ? JSON.stringify({ revoked: args.name }) : `revoked ${args.name}`);
    this.logToStderr(
      "A running service refuses the key within a second if it can read the file: keys_file in its /health says so.",
    );
  }
}
