import { Args } from "@oclif/core";
import { BaseCommand } from "../../base-command.ts";
import { optionFlags } from "../../option-flags.ts";

export default class ModelPull extends BaseCommand {
  static override summary = "Fetch a published model. It can be served offline from then on.";
  static override description =
    "Fetches the files of the pinned commit and checks each against its pinned SHA-256. An interrupted pull is resumed. Files\n" +
    "in the cache of the hub's own tools are copied from there.\n" +
    "Environment: HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE, HF_HUB_DOWNLOAD_TIMEOUT,\n" +
    "HTTP_PROXY, HTTPS_PROXY, NO_PROXY. docs/models.md explains them.";
  static override examples = [
    "<%= config.bin %> model pull gemmadecision",
    "HF_TOKEN=... <%= config.bin %> model pull gemmadecision",
    "<%= config.bin %> model pull ./manifest.json",
  ];
  static override args = {
    model: Args.string({
      required: true,
      description: "name of a published model, or a manifest.json with an origin",
    }),
  };
  static override flags = {
    ...optionFlags(["offline"]),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelPull);
    const { offline } = await this.options({ offline: flags.offline });
    const { pull } = await import("../../actions/pull.ts");
    const offlineBy = !offline ? undefined : flags.offline ? "--offline" : "DECISION_OFFLINE";
    this.log(await pull(args.model, { offlineBy, isJson: flags.json }));
  }
}
