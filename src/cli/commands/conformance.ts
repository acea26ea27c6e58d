import { Args, Flags } from "@oclif/core";
import { ServiceError } from "../../errors.ts";
import { BaseCommand } from "../base-command.ts";

export default class Conformance extends BaseCommand {
  static override summary = "Check any server against the contract, clause by clause, over HTTP.";
  static override description =
    "Sends about 1,500 requests, among them a flood and bodies of 2 MiB; --gentle leaves those out. A clause is kept, broken, " +
    "or skipped with a reason if it cannot be decided.\n" +
    "Exit code: 0 all kept; 1 some broken, no answers, or the run ended early; 2 wrong usage, no key, or nothing checked.\n" +
    "docs/conformance.md of this package lists the clauses.";
  static override examples = [
    "<%= config.bin %> conformance http://127.0.0.1:8700",
    "<%= config.bin %> conformance https://decisions.example.org --gentle --profile seed --report report.html",
    "<%= config.bin %> conformance http://127.0.0.1:8700 --only rank --only 'scores.*.bits' --json",
  ];
  static override args = {
    "base-url": Args.string({
      required: true,
      description: "address of the server, for example http://127.0.0.1:8700",
    }),
  };
  static override flags = {
    profile: Flags.string({
      options: ["seed", "full"],
      default: "full",
      description:
        "seed: the clauses that every implementation must keep; full: also those that this contract decides",
    }),
    only: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: "<clause>",
      description: "check only these clauses: an id, its beginning, or a pattern with *; repeatable",
    }),
    skip: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: "<clause>",
      description: "skip these clauses; repeatable",
    }),
    gentle: Flags.boolean({ description: "no floods, no large bodies, little work; for servers in use" }),
    "api-key": Flags.string({
      env: "DECISION_API_KEY",
      helpValue: "<key>",
      description:
        "the server's key; prefer the variable DECISION_API_KEY, which other users of the machine cannot see",
    }),
    timeout: Flags.string({
      default: "20",
      helpValue: "<seconds>",
      description: "maximum time of an answer; the run takes at most 15 times as long",
    }),
    json: Flags.boolean({ description: "print the report as JSON", exclusive: ["tap"] }),
    tap: Flags.boolean({ description: "print the report as TAP 14" }),
    junit: Flags.string({ helpValue: "<file>", description: "also write the report as JUnit XML" }),
    report: Flags.string({ helpValue: "<file>", description: "also write the report as an HTML page" }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Conformance);
    const timeoutSeconds = Number(flags.timeout);
    if (!/^\d+(\.\d+)?$/.test(flags.timeout) || timeoutSeconds <= 0 || timeoutSeconds > 3600)
      throw new ServiceError(
        "INVALID_OPTION",
        `--timeout takes a number of seconds above 0 and up to 3600, not "${flags.timeout}".`,
      );
    const { checkConformance } = await import("../actions/conformance.ts");
    const exitCode = await checkConformance({
      baseUrl: args["base-url"],
      profile: flags.profile === "seed" ? "seed" : "full",
      only: flags.only ?? [],
      skip: flags.skip ?? [],
      isGentle: flags.gentle,
      apiKey: flags["api-key"] || undefined,
      timeoutSeconds,
      format: flags.json ? "json" : flags.tap ? "tap" : "terminal",
      junit: flags.junit,
      report: flags.report,
    });
    process.exitCode = exitCode; // this.exit(2) would print the usage message for wrong flags
  }
}
