import { Flags } from "@oclif/core";
import { type BenchOptions, PARTS } from "../../../bench/options.ts";
import { WORKLOADS } from "../../../bench/workloads/table.ts";
import { readApiKey } from "../../options/exposure.ts";
import { invalidOption } from "../../options/resolve.ts";
import { OPTION_TABLE, type OptionName } from "../../options/table.ts";
import { BaseCommand } from "../base-command.ts";
import { optionFlags } from "../option-flags.ts";

/** Options of a service that change nothing that is measured, or that the bench sets itself. */
const LEFT_OUT: readonly string[] = ["host", "port", "allowUnauthenticated", "alias", "logLevel", "offline"];
// every name of the table but those
const SERVICE_OPTIONS = (Object.keys(OPTION_TABLE) as OptionName[]).filter(
  (name) => !LEFT_OUT.includes(name),
);

export default class Bench extends BaseCommand {
  static override summary =
    "Measure the engine and the service on this machine, beside baselines in the same run.";
  static override description =
    "Three parts: the engine against the same weights pair by pair and against this machine's matrix products; HTTP under " +
    "a closed and an open loop; start and memory. Every measurement is bounded in time and in count; quick by default " +
    "(about two minutes on two free cores). The engine's part needs a model of architecture bert-token-tree.\n" +
    "With --url it measures a server of the same contract that runs already, with the key in DECISION_API_KEY.\n" +
    "Rates and latencies are those of right answers. Wrong answers, statuses that no request asks for and connections " +
    "without an answer are failures: the run ends with exit code 1 once everything is printed. In the open loop 503 and 504 " +
    "are refusals and no failures, and beyond saturation neither are answers that come too late.\n" +
    "Results go to stdout, progress to stderr. Exit code 0: done; 1: something failed, or --compare found a figure that is " +
    "worse beyond the noise of both runs, given how many figures there are; 2: wrong usage, also --compare of a quick run " +
    "with a full one.";
  static override examples = [
    "<%= config.bin %> bench",
    "<%= config.bin %> bench --full --json > mine.json",
    "<%= config.bin %> bench --full --compare mine.json --report report.html",
    "<%= config.bin %> bench --part http --requests mine.jsonl --rate 50",
    "<%= config.bin %> bench --url http://127.0.0.1:8700 --against http://127.0.0.1:8800",
  ];
  static override flags = {
    part: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      options: [...PARTS],
      helpValue: PARTS.join("|"),
      description: "what to measure; repeatable, all if left out",
    }),
    workload: Flags.string({
      helpValue: "<name>",
      description: `what is sent over HTTP: ${WORKLOADS.map(({ name }) => name).join(", ")} [default: mixed]`,
      exclusive: ["requests"],
    }),
    requests: Flags.string({
      helpValue: "<file.jsonl>",
      description: "send your own requests: each line the body of a systemone or rank request",
    }),
    url: Flags.string({
      helpValue: "<url>",
      description: "measure a server that runs already, over HTTP alone",
    }),
    against: Flags.string({
      helpValue: "<url>",
      description: "a second server, measured in turn with the first",
    }),
    rate: Flags.string({
      helpValue: "<requests/s>",
      description: "rate of the open loop [default: shares of saturation]",
    }),
    full: Flags.boolean({ description: "longer and more: takes some twenty-five minutes" }),
    seconds: Flags.string({ helpValue: "<s>", description: "time of each measurement at most" }),
    count: Flags.string({ helpValue: "<number>", description: "requests of each measurement at most" }),
    seed: Flags.string({ default: "1", helpValue: "<number>", description: "of the generated requests" }),
    profile: Flags.boolean({ description: "show where the model's time goes, by operator" }),
    json: Flags.boolean({ description: "print the report as JSON, with every round" }),
    report: Flags.string({ helpValue: "<file.html>", description: "write a page with charts" }),
    compare: Flags.string({
      helpValue: "<old.json>",
      description: "compare with the --json of an earlier run of the same effort",
    }),
    ...optionFlags(SERVICE_OPTIONS),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Bench);
    const options: BenchOptions = {
      service: this.options(flags),
      parts: PARTS.filter((part) => flags.part === undefined || flags.part.includes(part)),
      isFull: flags.full,
      seed: positive("seed", flags.seed, { isWhole: true, min: 0 }),
      seconds: flags.seconds === undefined ? undefined : positive("seconds", flags.seconds),
      count:
        flags.count === undefined ? undefined : positive("count", flags.count, { isWhole: true, min: 1 }),
      rate: flags.rate === undefined ? undefined : positive("rate", flags.rate),
      isProfiled: flags.profile,
      workload: flags.workload,
      requests: flags.requests,
      url: flags.url,
      against: flags.against,
      apiKey: readApiKey(process.env),
    };
    checkTogether(options);
    const { runBench } = await import("../actions/bench.ts");
    const output = { isJson: flags.json, page: flags.report, compare: flags.compare };
    const isWorse = await runBench(options, output, (text) => this.log(text));
    if (isWorse) this.exit(1);
  }
}

/** Flags that would be of no effect beside the others. @throws ServiceError INVALID_OPTION */
function checkTogether({ parts, url, against, rate, isProfiled }: BenchOptions): void {
  const needsHttp = { "--url": url, "--against": against, "--rate": rate };
  for (const [flag, value] of Object.entries(needsHttp))
    if (value !== undefined && !parts.includes("http")) throw invalidOption(`${flag} needs --part http.`);
  if (isProfiled && (url !== undefined || !parts.includes("engine")))
    throw invalidOption("--profile needs the engine's part, and cannot be had of a server at --url.");
}

/** @throws ServiceError INVALID_OPTION */
function positive(flag: string, text: string, { isWhole = false, min = Number.MIN_VALUE } = {}): number {
  const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && (!isWhole || Number.isInteger(value))) return value;
  const kind = isWhole ? `a whole number from ${min}` : "a number above 0";
  throw invalidOption(`--${flag} takes ${kind}, not ${JSON.stringify(text)}.`);
}
