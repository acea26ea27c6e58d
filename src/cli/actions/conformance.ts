import { type ConformanceOptions, type Report, runConformance, WrongUsage } from "../../conformance/index.ts";
import {
  htmlReport,
  jsonReport,
  junitReport,
  progressLine,
  tapReport,
  terminalReport,
} from "../../conformance/reporters/index.ts";
import { ServiceError } from "../../errors.ts";
import { openOutput } from "../output/output-file.ts";
import { terminalProgress } from "../output/progress.ts";

/** Maximum time of the run, in timeouts of one answer. */
const RUN_TIMEOUTS = 15;

export interface ConformanceFlags extends ConformanceOptions {
  readonly timeoutSeconds: number;
  readonly format: "terminal" | "json" | "tap";
  /** Additional report files. */
  readonly junit: string | undefined;
  readonly report: string | undefined;
}

/**
 * Runs the checks and prints what they found.
 *
 * @returns the exit code
 * @throws ServiceError INVALID_OPTION
 */
export async function checkConformance(flags: ConformanceFlags): Promise<Report["exitCode"]> {
  const files = [
    { file: await openOutput(flags.junit, "--junit"), show: junitReport },
    { file: await openOutput(flags.report, "--report"), show: htmlReport },
  ];
  const progress = terminalProgress(process.stderr);
  try {
    const report = await runConformance({
      ...flags,
      maxSeconds: flags.timeoutSeconds * RUN_TIMEOUTS,
      onResult: (result, done, total) => progress.show(progressLine(result, done, total)),
    });
    progress.clear();
    for (const { file, show } of files) await file?.writeFile(show(report));
    process.stdout.write(show(report, flags.format));
    return report.exitCode;
  } catch (error) {
    throw error instanceof WrongUsage ? new ServiceError("INVALID_OPTION", `${error.message}.`) : error;
  } finally {
    for (const { file } of files) await file?.close();
  }
}

function show(report: Report, format: ConformanceFlags["format"]): string {
  if (format === "json") return jsonReport(report);
  if (format === "tap") return tapReport(report);
  return terminalReport(report, { isColoured: process.stdout.isTTY && !process.env.NO_COLOR });
}
