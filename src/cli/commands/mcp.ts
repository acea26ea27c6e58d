import { Flags } from "@oclif/core";
import { serviceUrl } from "../ask-flags.ts";
import { BaseCommand } from "../base-command.ts";
import { optionFlags } from "../option-flags.ts";

/** Options of a local engine, which have no effect with --url. */
const ENGINE_OPTIONS = [
  "model",
  "modelPath",
  "backend",
  "device",
  "precision",
  "alias",
  "tuning",
  "strict",
  "cacheSize",
  "deadlineMs",
] as const;

export default class Mcp extends BaseCommand {
  static override summary = "Serve MCP (Model Context Protocol) over standard input and output.";
  static override description =
    "For programs that start their MCP servers themselves. The tools are decide, rank and models. With --url a running service " +
    "answers, and its key is read from DECISION_API_KEY; otherwise the model is loaded here. Ends when its standard input ends.\n" +
    "docs/mcp.md has the configuration of common hosts. A running service serves MCP at /mcp, too.";
  static override examples = [
    "<%= config.bin %> mcp",
    "DECISION_API_KEY=secret <%= config.bin %> mcp --url http://127.0.0.1:8700",
  ];
  // standard output belongs to the protocol: no --json
  static override baseFlags = {} as typeof BaseCommand.baseFlags;
  static override flags = {
    url: Flags.string({
      helpValue: "<url>",
      description:
        "base URL of a running service that answers instead of a model of its own [env: DECISION_URL]",
    }),
    ...optionFlags([...ENGINE_OPTIONS, "logLevel"]),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Mcp);
    const url = serviceUrl(flags, process.env);
    const options = await this.options({ ...flags, url: undefined });
    const { logLevel, logFormat } = options;
    const { serveMcpUntilEnd } = await import("../actions/mcp.ts");
    await serveMcpUntilEnd(url === undefined ? { options } : { url }, { logLevel, logFormat }, process.env);
  }
}
