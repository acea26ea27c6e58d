import type { TokenTree } from "../../src/inference/ports.ts";
import type { Measurement } from "../measure/measurement.ts";
import { CANDIDATES, QUESTIONS, SHORT } from "../workloads/fixed-sizes.ts";
import type { Workload } from "../workloads/workload.ts";
import {
  firstPairs,
  manyCandidates,
  manyQuestions,
  shortLatency,
  waitingTogether,
  warmQuestion,
} from "./figures.ts";
import type { OperatorTime } from "./process/operator-time.ts";
import { TaskProcess } from "./process/task-process.ts";
import { measureRoof, type Roof } from "./roof.ts";
import { asPrecision, saturation } from "./saturation.ts";
import { type EngineRun, scoreChecked } from "./subject.ts";
import { type ThroughputReport, throughputOf } from "./throughput.ts";

export interface EngineReport {
  readonly precision: string;
  /** Threads of the engine and of the baseline. */
  readonly threads: number;
  /** Largest difference between a score of the engine and of the baseline. */
  readonly largestDifference: number;
  /** The project's figures, each followed by the numbers that it is computed from. */
  readonly figures: readonly Measurement[];
  readonly roof: Roof;
  readonly throughput: readonly ThroughputReport[];
  /** Time by operator, for one request or several together; with `--profile`. */
  readonly profile: readonly ProfileReport[];
}

export interface ProfileReport {
  readonly workload: string;
  readonly title: string;
  readonly operators: readonly OperatorTime[];
}

/** Numbers of rows of the roofline's products. */
const ROOF_ROWS = [16, 128, 512, 2048];

export async function benchEngine(
  run: EngineRun,
  { workloads, isProfiled }: { readonly workloads: readonly Workload[]; readonly isProfiled: boolean },
): Promise<EngineReport> {
  const { subject, effort, signal, progress } = run;
  progress("checking that engine and baseline agree");
  const largestDifference = await checkAgreement(run);
  progress("measuring the machine's matrix products");
  const roof = await measureRoof(subject.kernels, subject.shape, {
    threads: subject.threads,
    rows: ROOF_ROWS,
    pointMs: effort.roofPointMs,
    signal,
  });
  const figures: Measurement[] = [];
  const steps: readonly [string, () => Promise<readonly Measurement[]>][] = [
    ["many candidates on one state", () => manyCandidates(run)],
    ["many questions on one state", () => manyQuestions(run)],
    ["latency of a short request", () => shortLatency(run)],
    ["short requests waiting together", () => waitingTogether(run)],
    ["mixed traffic while saturated", () => saturation(run, roof)],
    ["one more question on a warm state", () => warmQuestion(run)],
  ];
  for (const [text, step] of steps) {
    signal.throwIfAborted();
    progress(text);
    figures.push(...(await step()));
  }
  const throughput: ThroughputReport[] = [];
  for (const workload of workloads) {
    signal.throwIfAborted();
    progress(`throughput: ${workload.name}`);
    throughput.push(await throughputOf(run, workload, roof));
  }
  const profile: ProfileReport[] = [];
  for (const { workload, count } of isProfiled ? PROFILED : []) {
    signal.throwIfAborted();
    progress(`profile: ${workload.name}`);
    profile.push(await profileOf(run, workload, count));
  }
  const { precision, threads } = subject;
  return { precision, threads, largestDifference, figures, roof, throughput, profile };
}

/** A short request, many short requests together, a request with many candidates, one with many questions. */
const PROFILED = [
  { workload: SHORT, count: 1 },
  { workload: SHORT, count: 32 },
  { workload: CANDIDATES, count: 1 },
  { workload: QUESTIONS, count: 1 },
];

/** Profiles in a separate process, because the runtime's profiler slows the model down. */
async function profileOf(
  { subject, effort, seed }: EngineRun,
  workload: Workload,
  count: number,
): Promise<ProfileReport> {
  const { modelPackage } = subject;
  const forest: TokenTree[] = [];
  for (let index = 0; index < count; index++) {
    forest.push(...(await subject.forestOf(await subject.prepare(workload.request(seed, index)))));
  }
  const process = new TaskProcess();
  try {
    const operators = await process.run("profile", {
      modelPackage,
      precision: asPrecision(subject.precision),
      forest,
      budgetMs: 2 * effort.sliceMs,
    });
    const title = count === 1 ? workload.title : `${count} requests together, each of ${workload.title}`;
    return { workload: workload.name, title, operators };
  } finally {
    await process.close();
  }
}

/** Tolerance of float32 against float32 with another order of summation. */
const FP32_TOLERANCE = 1e-3;
/** Chosen: int8 changes scores by less than a tenth of their spread. */
const INT8_SHARE_OF_RANGE = 0.1;

/** Checks that the baseline computes the same scores. @throws Error if they differ too much */
async function checkAgreement({ subject, seed, signal }: EngineRun): Promise<number> {
  const short = await subject.prepare(SHORT.request(seed, 0));
  const long = firstPairs(await subject.prepare(CANDIDATES.request(seed, 0)), 4);
  const differences: number[] = [];
  const scores: number[] = [];
  for (const prepared of [short, long]) {
    const ours = await scoreChecked(subject.engine, prepared, signal);
    const theirs = await scoreChecked(subject.baseline, prepared, signal);
    for (const [i, list] of ours.scores.entries()) {
      for (const [j, score] of list.entries()) {
        scores.push(score);
        differences.push(Math.abs(score - (theirs.scores[i]?.[j] ?? Number.NaN)));
      }
    }
  }
  const largest = Math.max(...differences);
  const range = Math.max(...scores) - Math.min(...scores);
  const allowed = asPrecision(subject.precision) === "fp32" ? FP32_TOLERANCE : INT8_SHARE_OF_RANGE * range;
  if (largest <= allowed) return largest;
  throw new Error(
    `engine and baseline differ by ${largest} in a score, more than ${allowed}; the measurement was not started`,
  );
}
