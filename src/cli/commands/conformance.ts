import { Args, Flags } from "@oclif/core";
import {
  BASE_URL_DESCRIPTION,
  CONFORMANCE_FLAGS,
  type ConformanceFlag,
} from "../../../packages/conformance/src/command/flags.ts";
import { checkConformance } from "../../../packages/conformance/src/command/run.ts";
import { BaseCommand } from "../base-command.ts";

export default class Conformance extends BaseCommand {
  static override summary = "Check any server against the contract, clause by clause, over HTTP.";
  static override description =
    "Sends about 2,200 requests, among them a flood and bodies of 2 MiB; --gentle leaves those out. The variable DECISION_API_KEY has the server's key. A clause is kept or broken. If it " +
    "cannot be decided, it is skipped with a reason.\n" +
    "Exit code: 0 all clauses kept or accepted by --baseline; 1 a clause broken, another kind of server, no responses, or a run that ended early; 2 wrong usage, no key, or nothing checked.\n" +
    "docs/conformance.md of this package lists the clauses.";
  static override examples = [
    "<%= config.bin %> conformance http://127.0.0.1:8700",
    "<%= config.bin %> conformance https://decisions.example.org --gentle --profile seed --junit report.xml",
    "<%= config.bin %> conformance http://127.0.0.1:8700 --only rank --only 'scores.*.bits' --json",
  ];
  static override args = {
    "base-url": Args.string({
      required: true,
      description: BASE_URL_DESCRIPTION,
    }),
  };
  // for the help only: the package reads its own command line
  static override flags = Object.fromEntries(Object.entries(CONFORMANCE_FLAGS).map(asFlag));

  async run(): Promise<void> {
    process.exitCode = await checkConformance(this.argv); // this.exit(2) would print the usage message for wrong flags
  }
}

/** oclif's form of a flag of the table. */
function asFlag([name, { type, multiple, options, default: usual, ...rest }]: [string, ConformanceFlag]) {
  if (type === "boolean") return [name, Flags.boolean(rest)];
  const text = { ...rest, ...(options && { options: [...options] }) };
  if (multiple) return [name, Flags.string({ ...text, multiple, multipleNonGreedy: true })];
  return [name, Flags.string({ ...text, ...(usual !== undefined && { default: usual }) })];
}
