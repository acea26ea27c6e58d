import { OPTION_TABLE, type OptionName } from "../../options/table.ts";
import { BaseCommand } from "../base-command.ts";
import { configFlag, optionFlags } from "../option-flags.ts";

export default class Serve extends BaseCommand {
  static override summary = "Serve the API over HTTP until SIGTERM or Ctrl-C.";
  static override description =
    "If DECISION_API_KEY or --keys-file is set, inference requests need the header `Authorization: Bearer <key>`.\n" +
    "Options can also be set by environment variables or in a configuration file. A flag overrides its variable, which " +
    "overrides the file. docs/configuration.md explains them.";
  static override examples = [
    "<%= config.bin %> serve",
    "<%= config.bin %> serve --port 8080 --precision fp32 --metrics",
    "DECISION_API_KEY=$(openssl rand -hex 32) <%= config.bin %> serve --host 0.0.0.0 --port 8700",
  ];
  // all options
  static override flags = { ...optionFlags(Object.keys(OPTION_TABLE) as OptionName[]), ...configFlag };

  async run(): Promise<void> {
    const { flags } = await this.parse(Serve);
    const options = await this.options(flags);
    // imported after the flags are read: `--help` and wrong usage need neither web server nor model
    const { serveUntilSignal } = await import("../actions/serve.ts");
    await serveUntilSignal(options, process.env, ({ model, url }) =>
      this.log(flags.json ? JSON.stringify({ model, url }) : `decision serves ${model} at ${url}`),
    );
  }
}
