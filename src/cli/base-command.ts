import path from "node:path";
import { Command } from "@oclif/core";
import { type Location, ServiceError } from "../errors.ts";
import { readConfigFile } from "../options/config-file.ts";
import { type ResolvedOptions, resolveWithSources } from "../options/resolve.ts";
import type { ServiceOptions } from "../options/table.ts";
import { plainLine, plainText } from "./output/plain-text.ts";

/** Exit codes: 0 done, 1 it failed, 2 wrong usage. */
const FAILED = 1;
const WRONG_USAGE = 2;

/** Common base of the commands: options from flags and environment, short error messages. */
export abstract class BaseCommand extends Command {
  /** From flags, environment and configuration file. @throws ServiceError INVALID_OPTION */
  protected async options(flags: Record<string, unknown>): Promise<ServiceOptions> {
    return (await this.resolved(flags)).options;
  }

  /** The same, with where each comes from. @throws ServiceError INVALID_OPTION */
  protected async resolved(flags: Record<string, unknown>): Promise<ResolvedOptions> {
    const raw = Object.entries(flags).filter(
      (entry): entry is [string, string | boolean | string[]] => entry[1] !== undefined,
    );
    const file = await readConfigFile(stringOf(flags.config) ?? process.env.DECISION_CONFIG);
    return resolveWithSources(Object.fromEntries(raw), process.env, file);
  }

  override log(message = ""): void {
    super.log("%s", plainText(message));
  }

  /** Prints a few lines to stderr instead of a stack trace or the whole help. */
  protected override async catch(error: Error & { oclif?: { exit?: number } }): Promise<unknown> {
    if (error instanceof ServiceError) {
      if (isWrongUsage(error)) return this.#end(this.#linesOf(error), WRONG_USAGE);
      if (error.kind === "CANCELLED") return this.#end(this.#linesOf(error), FAILED); // the user's own doing
      const page = path.join(this.config.root, "docs", "errors.md");
      return this.#end([...this.#linesOf(error), `${error.kind} is explained in ${page}`], FAILED);
    }
    // thrown by oclif for invalid flags
    if (error.oclif?.exit === WRONG_USAGE)
      return this.#end(usageLines(error.message, String(this.id).replaceAll(":", " ")), WRONG_USAGE);
    return super.catch(error);
  }

  /** Name of an issue's location for the user. @param place location in the request, without `body` */
  protected nameOf(place: Location): string {
    return place.join(".") || "request";
  }

  #linesOf({ issues, message }: ServiceError): readonly string[] {
    if (issues.length === 0) return [message];
    return issues.map(({ loc, msg }) => `${this.nameOf(loc.slice(1))}: ${msg}`);
  }

  #end(lines: readonly string[], exitCode: number): never {
    const command = `decision ${String(this.id).replaceAll(":", " ")}`;
    for (const line of lines) this.logToStderr("%s", plainLine(`${command}: ${line}`));
    return this.exit(exitCode);
  }
}

const stringOf = (flag: unknown) => (typeof flag === "string" ? flag : undefined);
const isWrongUsage = ({ kind }: ServiceError) =>
  kind === "INVALID_OPTION" || kind === "INVALID_REQUEST" || kind === "BODY_TOO_LARGE";

/** Lines of oclif's messages that add nothing, or do not apply to these flags. */
const NOISE =
  /^The following error|^See more help|^Note: .* allow multiple values|^Alternatively, you can use "--"/;

function usageLines(message: string, command: string): readonly string[] {
  const said = message.split("\n").filter((line) => line !== "" && !NOISE.test(line));
  return [...said.map((line) => line.trim()), `the flags are listed by: decision ${command} --help`];
}
