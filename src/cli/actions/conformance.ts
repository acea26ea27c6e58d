import { readFile } from "node:fs/promises";
import { PROFILES, type Report, runConformance, WrongUsage } from "../../conformance/index.ts";
import {
  githubAnnotations,
  jsonReport,
  junitReport,
  progressLine,
  terminalReport,
} from "../../conformance/reporters/index.ts";
import { writeBaseline } from "../../conformance/run/baseline.ts";
import { fileFault, ServiceError } from "../../errors.ts";
import { utf8Text } from "../../utf8.ts";
import { openOutput } from "../output/output-file.ts";
import { terminalProgress } from "../output/progress.ts";

/** Maximum time of the run, in timeouts of one answer. */
const RUN_TIMEOUTS = 15;
const LONGEST_TIMEOUT = 3600;

/** Flags as given: unparsed texts, and lists that are empty if the flag was not given. */
export interface GivenFlags {
  readonly profile: string;
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly shard: string | undefined;
  readonly seed: string | undefined;
  readonly gentle: boolean;
  readonly timeout: string;
  readonly baseline: string | undefined;
  readonly "write-baseline": string | undefined;
  readonly json: boolean;
  readonly github: boolean;
  readonly junit: string | undefined;
}

/**
 * Runs the checks and prints the report.
 *
 * @returns the exit code
 * @throws ServiceError INVALID_OPTION
 */
export async function checkConformance(baseUrl: string, flags: GivenFlags): Promise<Report["exitCode"]> {
  const timeoutSeconds = readTimeout(flags.timeout);
  const seed = readSeed(flags.seed);
  const baseline = await readInput(flags.baseline, "--baseline");
  const files = [
    { file: await openOutput(flags.junit, "--junit"), show: junitReport },
    { file: await openOutput(flags["write-baseline"], "--write-baseline"), show: writeBaseline },
  ];
  const progress = terminalProgress(process.stderr);
  try {
    const report = await runConformance({
      baseUrl,
      profile: PROFILES.find((profile) => profile === flags.profile) ?? "full",
      only: flags.only,
      skip: flags.skip,
      shard: flags.shard,
      seed,
      baseline,
      isGentle: flags.gentle,
      apiKey: process.env.DECISION_API_KEY || undefined,
      timeoutSeconds,
      maxSeconds: timeoutSeconds * RUN_TIMEOUTS,
      onResult: (result, done, total) => progress.show(progressLine(result, done, total)),
    });
    progress.clear();
    for (const { file, show } of files) await file?.writeFile(show(report));
    process.stdout.write(show(report, flags));
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
  throw new ServiceError("INVALID_OPTION", `--timeout takes seconds above 0 to 3600, not "${given}".`);
}

function readSeed(given: string | undefined): number | undefined {
  if (given === undefined || /^\d{1,10}$/.test(given)) return given === undefined ? undefined : Number(given);
  throw new ServiceError("INVALID_OPTION", `--seed takes a whole number, not "${given}".`);
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

function show(report: Report, { json, github }: GivenFlags): string {
  if (json) return jsonReport(report);
  const isColoured = process.stdout.isTTY && !process.env.NO_COLOR;
  return `${terminalReport(report, { isColoured })}${github ? githubAnnotations(report) : ""}`;
}
