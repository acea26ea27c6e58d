import { type FileHandle, open } from "node:fs/promises";
import { type ConformanceOptions, type Report, runConformance, WrongUsage } from "../conformance/index.ts";
import {
  htmlReport,
  jsonReport,
  junitReport,
  progressLine,
  tapReport,
  terminalReport,
} from "../conformance/reporters/index.ts";
import { ServiceError } from "../errors.ts";

/** Of the whole run, in timeouts of one answer. */
const RUN_TIMEOUTS = 15;

export interface ConformanceFlags extends ConformanceOptions {
  readonly timeoutSeconds: number;
  readonly format: "terminal" | "json" | "tap";
  /** Files to write too. */
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
  // opened before the run: a minute of work must not end at a folder that is not there
  const files = [
    { file: await openFile(flags.junit, "--junit"), show: junitReport },
    { file: await openFile(flags.report, "--report"), show: htmlReport },
  ];
  const progress = createProgress(process.stderr);
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

async function openFile(name: string | undefined, flag: string): Promise<FileHandle | undefined> {
  if (name === undefined) return undefined;
  try {
    return await open(name, "w");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError("INVALID_OPTION", `${flag} cannot be written: ${reason}.`, { cause });
  }
}

/** One line that changes, on a terminal only. */
function createProgress(stream: NodeJS.WriteStream) {
  if (!stream.isTTY) return { show() {}, clear() {} };
  const clear = () => stream.write("\r\u001b[2K");
  return {
    show(line: string) {
      clear();
      stream.write(line.slice(0, stream.columns - 1));
    },
    clear,
  };
}
