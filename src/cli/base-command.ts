import { Command } from "@oclif/core";
import { ServiceError } from "../errors.ts";
import { resolveOptions, type ServiceOptions } from "../options.ts";

/** Exit codes: 0 done, 1 it failed, 2 wrong usage. */
const FAILED = 1;
const WRONG_USAGE = 2;

/** What the commands share: options from flags and environment, one line for an error. */
export abstract class BaseCommand extends Command {
  /** @throws ServiceError INVALID_OPTION */
  protected options(flags: Record<string, unknown>): ServiceOptions {
    const raw = Object.entries(flags).filter(
      (entry): entry is [string, string | boolean | string[]] => entry[1] !== undefined,
    );
    return resolveOptions(Object.fromEntries(raw), process.env);
  }

  /** One line on stderr instead of a stack. */
  protected override async catch(error: Error & { exitCode?: number }): Promise<unknown> {
    if (!(error instanceof ServiceError)) return super.catch(error);
    const isUsage = error.kind === "INVALID_OPTION" || error.kind === "INVALID_REQUEST";
    const lines = error.issues.map(({ loc, msg }) => `${loc.slice(1).join(".") || "request"}: ${msg}`);
    this.logToStderr(`decision ${this.id}: ${lines.length > 0 ? lines.join("\n  ") : error.message}`);
    return this.exit(isUsage ? WRONG_USAGE : FAILED);
  }
}
