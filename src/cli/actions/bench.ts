import { setMaxListeners } from "node:events";
import { bench } from "../../../bench/bench.ts";
import type { BenchOptions } from "../../../bench/options.ts";
import { checkSameEffort, compareReports, differencesInSetting } from "../../../bench/report/compare.ts";
import { failuresOf, failuresText } from "../../../bench/report/failures.ts";
import { pageHtml } from "../../../bench/report/page.ts";
import type { Report } from "../../../bench/report/report.ts";
import { comparisonTable, reportText, tableText } from "../../../bench/report/terminal.ts";
import { ServiceError } from "../../errors.ts";
import { openOutput } from "../output/output-file.ts";
import { terminalProgress } from "../output/progress.ts";
import { fileText } from "../state-text.ts";

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
    await page?.writeFile(await pageHtml(report));
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
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // every request in progress adds a listener
  const progress = terminalProgress(process.stderr);
  const onSignal = (signal: NodeJS.Signals) =>
    stop.abort(new ServiceError("CANCELLED", `stopped by ${signal}.`));
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  try {
    return await bench(options, { signal: stop.signal, progress: (text) => progress.show(text) });
  } finally {
    progress.clear();
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

/** @throws ServiceError INVALID_OPTION, also if the report's effort differs from this run's */
async function readReport(file: string, isFull: boolean): Promise<Report> {
  const report = parseReport(await fileText(file, "--compare"));
  if (report === undefined)
    throw new ServiceError("INVALID_OPTION", `--compare ${file} is not a report of decision bench --json.`);
  checkSameEffort(report, isFull, file);
  return report;
}

function parseReport(text: string): Report | undefined {
  try {
    const report: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    const isReport =
      typeof report === "object" &&
      report !== null &&
      Reflect.get(report, "format") === "typed-decisions-bench-v1";
    return isReport ? (report as Report) : undefined; // checked by its format
  } catch {
    return undefined;
  }
}
