import { Args, Flags } from "@oclif/core";
import { BaseCommand } from "../base-command.ts";
import {
  BASE_URL_DESCRIPTION,
  CONFORMANCE_FLAGS,
  type ConformanceFlag,
  type FlagName,
} from "../conformance-flags.ts";

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
  static override flags = {
    profile: text("profile"),
    only: texts("only"),
    skip: texts("skip"),
    shard: text("shard"),
    seed: text("seed"),
    gentle: yes("gentle"),
    timeout: text("timeout"),
    baseline: text("baseline"),
    "write-baseline": text("write-baseline"),
    json: yes("json"),
    github: yes("github"),
    junit: text("junit"),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Conformance);
    const { checkConformance } = await import("../actions/conformance.ts");
    const { only = [], skip = [], profile = "", timeout = "" } = flags;
    const exitCode = await checkConformance(args["base-url"], {
      profile,
      only,
      skip,
      timeout,
      shard: flags.shard,
      seed: flags.seed,
      gentle: flags.gentle,
      baseline: flags.baseline,
      "write-baseline": flags["write-baseline"],
      json: flags.json,
      github: flags.github,
      junit: flags.junit,
    });
    process.exitCode = exitCode; // this.exit(2) would print the usage message for wrong flags
  }
}

/** oclif settings of a flag of the table. */
function settings(name: FlagName) {
  const {
    type: _type,
    isRepeatable: _many,
    options,
    exclusive,
    ...rest
  }: ConformanceFlag = CONFORMANCE_FLAGS[name];
  return {
    ...rest,
    ...(options === undefined ? {} : { options: [...options] }),
    ...(exclusive === undefined ? {} : { exclusive: [...exclusive] }),
  };
}

function text(name: FlagName) {
  return Flags.string(settings(name));
}

function texts(name: FlagName) {
  return Flags.string({ ...settings(name), default: undefined, multiple: true, multipleNonGreedy: true });
}

function yes(name: FlagName) {
  const { description, exclusive = [] }: { description: string; exclusive?: string[] } = settings(name);
  return Flags.boolean({ description, ...(exclusive.length === 0 ? {} : { exclusive }) });
}
