import { Args } from "@oclif/core";
import { BaseCommand } from "../../base-command.ts";
import { classifierFlags, readClassifierFlags } from "../../classifier-flags.ts";
import { optionFlags } from "../../option-flags.ts";

export default class ModelPull extends BaseCommand {
  static override summary = "Fetch a model. It can be served offline from then on.";
  static override description =
    "Fetches a published model, or a zero-shot classifier or reranker of any repository that has it in ONNX. Checks every file\n" +
    "against the digest that is pinned or that the hub states, and pins commit and digests. An interrupted pull is resumed.\n" +
    "Files in the cache of the hub's own tools are copied from there.\n" +
    "Environment: HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE, HF_HUB_DOWNLOAD_TIMEOUT,\n" +
    "HTTP_PROXY, HTTPS_PROXY, NO_PROXY. docs/models.md explains them.";
  static override examples = [
    "<%= config.bin %> model pull gemmadecision",
    "HF_TOKEN=... <%= config.bin %> model pull gemmadecision",
    "<%= config.bin %> model pull ./manifest.json",
    "<%= config.bin %> model pull onnx-community/deberta-v3-base-zeroshot-v2.0-ONNX",
    "<%= config.bin %> model pull acme/Classifier@0123456789abcdef0123456789abcdef01234567 --file onnx/model_quantized.onnx",
  ];
  static override args = {
    model: Args.string({
      required: true,
      description: "a published model, <namespace>/<name>[@<commit>], or a manifest.json with an origin",
    }),
  };
  static override flags = {
    ...optionFlags(["offline"]),
    ...classifierFlags,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelPull);
    const given: Record<string, unknown> = flags;
    const { offline } = await this.options({ offline: given.offline });
    const { pull } = await import("../../actions/pull.ts");
    const offlineBy = !offline ? undefined : given.offline ? "--offline" : "DECISION_OFFLINE";
    this.log(await pull(args.model, { offlineBy, isJson: flags.json, wishes: readClassifierFlags(flags) }));
  }
}
