import path from "node:path";
import { Command, Flags } from "@oclif/core";
import { type Location, ServiceError } from "../errors.ts";
import { type ConfigFile, readConfigFile, readUnnamedFile } from "../options/config-file.ts";
import { type ResolvedOptions, resolveWithSources } from "../options/resolve.ts";
import type { ServiceOptions } from "../options/table.ts";
import { errorDocument, isJsonAsked } from "./error-document.ts";
import { plainLine, plainText } from "./output/plain-text.ts";
import { unknownVariables } from "./unknown-variables.ts";

/** The flag of all commands whose standard output is not a protocol. */
const JSON_FLAG = { json: Flags.boolean({ description: "print the result, or the error, as JSON" }) };

/** Exit codes: 0 success, 1 failure, 2 wrong usage. */
const FAILED = 1;
const WRONG_USAGE = 2;

/** Base class of the commands: options from flags and environment, --json, short error messages. */
export abstract class BaseCommand extends Command {
  static override baseFlags = JSON_FLAG;

  protected override async init(): Promise<void> {
    await super.init();
    for (const line of await unknownVariables(process.env)) this.#say(line);
  }

  /** Options from flags, environment and configuration file. @throws ServiceError INVALID_OPTION */
  protected async options(flags: Record<string, unknown>): Promise<ServiceOptions> {
    return (await this.resolved(flags)).options;
  }

  /** Options with the source of each. @throws ServiceError INVALID_OPTION */
  protected async resolved(flags: Record<string, unknown>): Promise<ResolvedOptions> {
    const raw = Object.entries(flags).filter(
      (entry): entry is [string, string | boolean | string[]] => entry[1] !== undefined,
    );
    return resolveWithSources(Object.fromEntries(raw), process.env, await this.#configFile(flags.config));
  }

  /**
   * The configuration file; one that nobody has named only for the commands that take the flag.
   * @throws ServiceError INVALID_OPTION
   */
  async #configFile(flag: unknown): Promise<ConfigFile | undefined> {
    const named = (typeof flag === "string" ? flag : undefined) ?? process.env.DECISION_CONFIG;
    if (named) return readConfigFile(named);
    if (!("config" in this.ctor.flags)) return undefined;
    const file = await readUnnamedFile(process.cwd());
    if (file !== undefined) this.#say(`options from ${file.path}`);
    return file;
  }

  override log(message = ""): void {
    super.log("%s", plainText(message));
  }

  /** Prints a short error to stderr instead of a stack trace or the whole help; with --json also to stdout. */
  protected override async catch(error: Error & { oclif?: { exit?: number } }): Promise<unknown> {
    if (error instanceof ServiceError) {
      this.#printJson(error);
      if (isWrongUsage(error)) return this.#end(this.#linesOf(error), WRONG_USAGE);
      if (error.kind === "CANCELLED") return this.#end(this.#linesOf(error), FAILED); // the user cancelled it
      const page = path.join(this.config.root, "docs", "errors.md");
      return this.#end([...this.#linesOf(error), `${error.kind} is explained in ${page}`], FAILED);
    }
    if ("code" in error && error.code === "EEXIT") return super.catch(error); // this.exit(): everything has been printed
    // thrown by oclif for invalid flags
    if (error.oclif?.exit === WRONG_USAGE) {
      const [said = "", ...more] = await this.#usageOf(error);
      this.#printJson(new ServiceError("INVALID_OPTION", [said, ...more].join(" ")));
      return this.#end([said, ...more, `for the flags, run: ${this.#command} --help`], WRONG_USAGE);
    }
    this.#printJson(error);
    return super.catch(error);
  }

  /** The user's name for the place of an issue. @param place location in the request, without `body` */
  protected nameOf(place: Location): string {
    return place.join(".") || "request";
  }

  #linesOf({ issues, message }: ServiceError): readonly string[] {
    if (issues.length === 0) return [message];
    return issues.map(({ loc, msg }) => `${this.nameOf(loc.slice(1))}: ${msg}`);
  }

  /** oclif's message about wrong flags, with a suggested flag. */
  async #usageOf(error: Error): Promise<readonly string[]> {
    const given = "flags" in error && Array.isArray(error.flags) ? error.flags.map(String) : [];
    const known = Object.keys({ ...this.ctor.baseFlags, ...this.ctor.flags, help: true }).map(
      (name) => `--${name}`,
    );
    const { didYouMean } = await import("./likely.ts");
    const hints = given.map((flag) => didYouMean(flag, known)).filter((hint) => hint !== "");
    return usageLines(error.message).map((line, at) => (at === 0 ? line + hints.join("") : line));
  }

  #printJson(error: Error): void {
    if (isJsonAsked(this.argv)) this.log(errorDocument(error));
  }

  #end(lines: readonly string[], exitCode: number): never {
    for (const line of lines) this.#say(line);
    return this.exit(exitCode);
  }

  #say(line: string): void {
    this.logToStderr("%s", plainLine(`${this.#command}: ${line}`));
  }

  get #command(): string {
    return `decision ${String(this.id).replaceAll(":", " ")}`;
  }
}

const isWrongUsage = ({ kind }: ServiceError) =>
  kind === "INVALID_OPTION" || kind === "INVALID_REQUEST" || kind === "BODY_TOO_LARGE";

/** Lines of oclif's messages that add nothing, or do not apply to these flags. */
const NOISE =
  /^The following error|^See more help|^Note: .* allow multiple values|^Alternatively, you can use "--"/;

function usageLines(message: string): readonly string[] {
  const said = message.split("\n").filter((line) => line !== "" && !NOISE.test(line));
  return said.map((line) => line.trim());
}
