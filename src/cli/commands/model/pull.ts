import { Args, Flags } from "@oclif/core";
import { BaseCommand } from "../../base-command.ts";
import { optionFlags } from "../../option-flags.ts";

export default class ModelPull extends BaseCommand {
  static override summary = "Fetch a published model, once; from then on it is served without a connection.";
  static override description =
    "Fetches the files of the pinned commit, each checked against its pinned SHA-256. What a broken pull has left is gone on\n" +
    "from, and what the hub's own tools have in their cache is taken from there.\n" +
    "Reads the variables of those tools: HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE,\n" +
    "HF_HUB_DOWNLOAD_TIMEOUT, and HTTP_PROXY, HTTPS_PROXY, NO_PROXY. A manifest.json that names its origin may stand for a model.";
  static override examples = [
    "<%= config.bin %> model pull gemmadecision",
    "HF_TOKEN=... <%= config.bin %> model pull gemmadecision",
    "<%= config.bin %> model pull ./manifest.json",
  ];
  static override args = {
    model: Args.string({
      required: true,
      description: "any name of a published model, or a manifest that names where its files were published",
    }),
  };
  static override flags = {
    json: Flags.boolean({ description: "print what was done as JSON" }),
    ...optionFlags(["offline"]),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelPull);
    const { offline } = this.options({ offline: flags.offline });
    const { pull } = await import("../../actions/pull.ts");
    const offlineBy = !offline ? undefined : flags.offline ? "--offline" : "DECISION_OFFLINE";
    this.log(await pull(args.model, { offlineBy, isJson: flags.json }));
  }
}
