import { Flags } from "@oclif/core";
import { serveMcp } from "../../library/index.ts";
import { readApiKey, readRemoteToken } from "../../options/exposure.ts";
import { BaseCommand } from "../base-command.ts";
import { optionFlags } from "../option-flags.ts";
import { createLog } from "../output/log.ts";
import { serviceUrl } from "../target.ts";

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
    "For agents and editors that start their MCP servers themselves. The tools are decide, rank and models. The command loads the " +
    "model, or, with --url, uses a running service with the key in DECISION_API_KEY. It ends when its standard input ends.\n" +
    "docs/mcp.md has the configuration of common hosts. `decision serve` also serves MCP, at /mcp.";
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
        "use a running service instead of loading the model; DECISION_API_KEY has its key [env: DECISION_URL]",
    }),
    ...optionFlags([...ENGINE_OPTIONS, "logLevel"]),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Mcp);
    const url = serviceUrl(flags, process.env);
    const options = await this.options({ ...flags, url: undefined });
    const { logLevel, logFormat } = options;
    await serveMcp(url === undefined ? { options } : { url }, {
      apiKey: readApiKey(process.env),
      remoteToken: readRemoteToken(process.env),
      log: await createLog(logLevel, logFormat),
    });
  }
}
