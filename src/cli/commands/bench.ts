import { Flags } from "@oclif/core";
import { type BenchOptions, bench, PARTS } from "../../../bench/bench.ts";
import { checkSameEffort, compareReports, differencesInSetting } from "../../../bench/report/compare.ts";
import { failuresOf, type Report } from "../../../bench/report/report.ts";
import { WORKLOADS } from "../../../bench/workloads/generated.ts";
import { invalidOption, ServiceError } from "../../errors.ts";
import { readApiKey } from "../../options/exposure.ts";
import { OPTION_TABLE, type OptionName } from "../../options/table.ts";
import { memberOf, parsedJson } from "../../records.ts";
import { BaseCommand } from "../base-command.ts";
import { numberOf, optionFlags } from "../option-flags.ts";
import { benchPage } from "../output/bench-page.ts";
import { comparisonTable, failuresText, reportText, tableText } from "../output/bench-text.ts";
import { openOutput } from "../output/output-file.ts";
import { terminalProgress } from "../output/progress.ts";
import { fileText } from "../state-text.ts";
import { stopOnSignals } from "../stop.ts";

/** Options that do not affect a measurement, or that the bench sets itself. */
const LEFT_OUT: readonly string[] = [
  "host",
  "port",
  "allowUnauthenticated",
  "alias",
  "typesafeAlias",
  "logLevel",
  "offline",
  "explain",
];
// the remaining options
const SERVICE_OPTIONS = (Object.keys(OPTION_TABLE) as OptionName[]).filter(
  (name) => !LEFT_OUT.includes(name),
);

export default class Bench extends BaseCommand {
  static override summary = "Measure throughput, latency, startup and memory on this machine.";
  static override description =
    "Measures two parts. http: the service under a closed loop (callers that wait for their answers) and an open loop (a fixed " +
    "rate). memory: startup time and resident memory. A quick run takes about a minute on two idle cores.\n" +
    "With --url it measures a running server of the same contract, with the key in DECISION_API_KEY.\n" +
    "Wrong answers, unexpected statuses and lost connections are failures. In the open loop, 503 and 504 are no failures; " +
    "late answers are none if the rate is beyond saturation.\n" +
    "Results go to stdout, progress to stderr. Exit code: 0 done, 1 a failure, or a figure that is worse than in --compare by " +
    "more than the noise of both runs, 2 wrong usage, for example --compare of a quick run with a full run.";
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
      description: "part to measure; repeatable [default: both]",
    }),
    workload: Flags.string({
      helpValue: "<name>",
      description: `generated requests to send over HTTP: ${WORKLOADS.map(({ name }) => name).join(", ")} [default: mixed]`,
      exclusive: ["requests"],
    }),
    requests: Flags.string({
      helpValue: "<file.jsonl>",
      description: "send your own requests; each line is the body of a systemone or rank request",
    }),
    url: Flags.string({
      helpValue: "<url>",
      description: "measure a running server, over HTTP only",
    }),
    against: Flags.string({
      helpValue: "<url>",
      description: "second server to compare with; the runs alternate",
    }),
    rate: Flags.string({
      helpValue: "<requests/s>",
      description: "rate of the open loop [default: several fractions of the maximum throughput]",
    }),
    full: Flags.boolean({ description: "measure more, for about 15 minutes" }),
    seconds: Flags.string({ helpValue: "<s>", description: "maximum time of each measurement" }),
    count: Flags.string({
      helpValue: "<number>",
      description: "maximum number of requests of each measurement",
    }),
    seed: Flags.string({
      default: "1",
      helpValue: "<number>",
      description: "seed of the generated requests",
    }),
    json: Flags.boolean({ description: "print the report as JSON, with every round" }),
    report: Flags.string({ helpValue: "<file.html>", description: "write an HTML page with charts" }),
    compare: Flags.string({
      helpValue: "<old.json>",
      description: "compare with the --json report of an earlier run; both must be quick or both full",
    }),
    ...optionFlags(SERVICE_OPTIONS),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Bench);
    const options: BenchOptions = {
      service: await this.options(flags),
      parts: PARTS.filter((part) => flags.part === undefined || flags.part.includes(part)),
      isFull: flags.full,
      seed: numberOf("seed", flags.seed, { leastWhole: 0 }) ?? 1,
      seconds: numberOf("seconds", flags.seconds),
      count: numberOf("count", flags.count, { leastWhole: 1 }),
      rate: numberOf("rate", flags.rate),
      workload: flags.workload,
      requests: flags.requests === undefined ? undefined : await requestsOf(flags.requests),
      url: flags.url,
      against: flags.against,
      apiKey: readApiKey(process.env),
    };
    checkTogether(options);
    const output = { isJson: flags.json, page: flags.report, compare: flags.compare };
    const isWorse = await runBench(options, output, (text) => this.log(text));
    if (isWorse) this.exit(1);
  }
}

/** Refuses flags that have no effect in this combination. @throws ServiceError INVALID_OPTION */
function checkTogether({ parts, url, against, rate }: BenchOptions): void {
  const needsHttp = { "--url": url, "--against": against, "--rate": rate };
  for (const [flag, value] of Object.entries(needsHttp))
    if (value !== undefined && !parts.includes("http")) throw invalidOption(`${flag} needs --part http.`);
}

/** @throws ServiceError INVALID_OPTION */
async function requestsOf(name: string) {
  return { name, text: await fileText(name, "--requests") };
}

export interface BenchOutput {
  readonly isJson: boolean;
  /** File for the HTML page. */
  readonly page?: string | undefined;
  /** File of an earlier report. */
  readonly compare?: string | undefined;
}

/**
 * Measures and prints. A signal ends the run and all processes that it started.
 *
 * @returns whether a comparison found a figure that is worse beyond the noise of both runs
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL | INTERNAL (also after printing, if requests failed) |
 *         CANCELLED (a signal)
 */
export async function runBench(
  options: BenchOptions,
  output: BenchOutput,
  print: (text: string) => void,
): Promise<boolean> {
  const old = output.compare === undefined ? undefined : await readReport(output.compare, options.isFull);
  const page = await openOutput(output.page, "--report");
  let report: Report;
  try {
    report = await measure(options);
    await page?.writeFile(benchPage(report));
  } finally {
    await page?.close();
  }
  print(output.isJson ? JSON.stringify(report, null, 2) : reportText(report));
  const isWorse = old !== undefined && printComparison(old, report, output, print);
  const failures = failuresText(failuresOf(report));
  if (failures !== undefined) throw new ServiceError("INTERNAL", failures);
  return isWorse;
}

/** @returns whether a figure is worse */
function printComparison(
  old: Report,
  report: Report,
  output: BenchOutput,
  print: (text: string) => void,
): boolean {
  const different = differencesInSetting(old, report);
  if (different.length > 0) process.stderr.write(`the runs differ in: ${different.join(", ")}\n`);
  const comparisons = compareReports(old, report);
  const text = tableText(comparisonTable(comparisons, output.compare ?? ""));
  if (output.isJson) process.stderr.write(`${text}\n`);
  else print(`\n${text}`);
  return comparisons.some(({ verdict }) => verdict === "worse");
}

async function measure(options: BenchOptions): Promise<Report> {
  const stop = stopOnSignals(".");
  const progress = terminalProgress(process.stderr);
  try {
    return await bench(options, { signal: stop.signal, progress: (text) => progress.show(text) });
  } finally {
    progress.clear();
    stop.dispose();
  }
}

/** @throws ServiceError INVALID_OPTION, also if the report's effort differs from this run's */
async function readReport(file: string, isFull: boolean): Promise<Report> {
  const found = parsedJson(await fileText(file, "--compare"));
  if (memberOf(found, "format") !== "typed-decisions-bench-v1")
    throw invalidOption(`--compare ${file} is not a report of decision bench --json.`);
  const report = found as Report; // checked by its format
  checkSameEffort(report, isFull, file);
  return report;
}
