import { OPTION_TABLE, type OptionName } from "../../options/table.ts";
import { BaseCommand } from "../base-command.ts";
import { optionFlags } from "../option-flags.ts";

export default class Serve extends BaseCommand {
  static override summary = "Answer typed questions over HTTP until SIGTERM or Ctrl-C.";
  static override description =
    "With DECISION_API_KEY set, the inference routes want the header `Authorization: Bearer <key>`.\n" +
    "Options can be given as environment variables too; a flag counts more.";
  static override examples = [
    "<%= config.bin %> serve",
    "DECISION_API_KEY=secret <%= config.bin %> serve --host 0.0.0.0 --port 8700",
  ];
  // every name of the table
  static override flags = optionFlags(Object.keys(OPTION_TABLE) as OptionName[]);

  async run(): Promise<void> {
    const { flags } = await this.parse(Serve);
    const options = this.options(flags);
    // after the flags are read: `--help` and wrong usage need neither web server nor model
    const { serve } = await import("../actions/serve.ts");
    await serve(options, process.env, (line) => this.log(line));
  }
}
