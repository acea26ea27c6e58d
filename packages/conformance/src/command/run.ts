import { readFile } from "node:fs/promises";
import { openOutput } from "../../../../src/cli/output/output-file.ts";
import { terminalProgress } from "../../../../src/cli/output/progress.ts";
import { fileFault, ServiceError } from "../../../../src/errors.ts";
import { utf8Text } from "../../../../src/utf8.ts";
import { type Report, runConformance, WrongUsage } from "../index.ts";
import {
  githubAnnotations,
  jsonReport,
  junitReport,
  progressLine,
  terminalReport,
} from "../reporters/index.ts";
import { writeBaseline } from "../run/report.ts";
import { type Given, readArguments } from "./flags.ts";

/** Maximum time of the run, in timeouts of one answer. */
const RUN_TIMEOUTS = 15;
const LONGEST_TIMEOUT = 3600;

/**
 * The command line of `decision conformance` and of `decision-conformance`: runs the checks and prints the report.
 *
 * @returns the exit code
 * @throws ServiceError INVALID_OPTION
 */
export async function checkConformance(args: readonly string[]): Promise<Report["exitCode"]> {
  const given = readArguments(args);
  const timeoutSeconds = readTimeout(given.timeout);
  const seed = readSeed(given.seed);
  const baseline = await readInput(given.baseline, "--baseline");
  const files = [
    { file: await openOutput(given.junit, "--junit"), show: junitReport },
    { file: await openOutput(given["write-baseline"], "--write-baseline"), show: writeBaseline },
  ];
  const progress = terminalProgress(process.stderr);
  try {
    const { baseUrl, profile, only = [], skip = [], shard, gentle: isGentle = false } = given;
    const report = await runConformance({
      ...{ baseUrl, profile, only, skip, shard, seed, baseline, isGentle, timeoutSeconds },
      apiKey: process.env.DECISION_API_KEY || undefined,
      maxSeconds: timeoutSeconds * RUN_TIMEOUTS,
      onResult: (result, done, total) => progress.show(progressLine(result, done, total)),
    });
    progress.clear();
    for (const { file, show } of files) await file?.writeFile(show(report));
    process.stdout.write(show(report, given));
    return report.exitCode;
  } catch (error) {
    throw error instanceof WrongUsage ? new ServiceError("INVALID_OPTION", `${error.message}.`) : error;
  } finally {
    for (const { file } of files) await file?.close();
  }
}

function readTimeout(given: string): number {
  const seconds = Number(given);
  if (/^\d+(\.\d+)?$/.test(given) && seconds > 0 && seconds <= LONGEST_TIMEOUT) return seconds;
  throw new ServiceError("INVALID_OPTION", `--timeout: expected seconds above 0 to 3600, got "${given}".`);
}

function readSeed(given: string | undefined): number | undefined {
  if (given === undefined || /^\d{1,10}$/.test(given)) return given === undefined ? undefined : Number(given);
  throw new ServiceError("INVALID_OPTION", `--seed: expected a whole number, got "${given}".`);
}

async function readInput(name: string | undefined, flag: string): Promise<string | undefined> {
  if (name === undefined) return undefined;
  try {
    return utf8Text(await readFile(name), (fault) => new Error(`it ${fault}`));
  } catch (cause) {
    const reason = fileFault(cause);
    throw new ServiceError("INVALID_OPTION", `${flag} ${name} cannot be read: ${reason}.`, { cause });
  }
}

function show(report: Report, given: Given): string {
  if (given.json) return jsonReport(report);
  const isColoured = process.stdout.isTTY && !process.env.NO_COLOR;
  return `${terminalReport(report, { isColoured })}${given.github ? githubAnnotations(report) : ""}`;
}
