import { Args } from "@oclif/core";
import { BaseCommand } from "../../base-command.ts";
import { keysFileOf } from "../../keys-flags.ts";
import { optionFlags } from "../../option-flags.ts";

export default class KeysRevoke extends BaseCommand {
  static override summary = "Remove a key from the file of keys.";
  static override description = "A service that reads the file refuses the key within a second.";
  static override args = { name: Args.string({ required: true, description: "name of the key" }) };
  static override flags = optionFlags(["keysFile"]);

  async run(): Promise<void> {
    const { args, flags } = await this.parse(KeysRevoke);
    const file = keysFileOf(await this.options(flags));
    const { revokeKey } = await import("../../actions/keys.ts");
    revokeKey(file, args.name);
    this.log(`revoked ${args.name}`);
  }
}
