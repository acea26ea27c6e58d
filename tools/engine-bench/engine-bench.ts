/**
 * Measures throughput and latency of the engine (tokenizer, queue and model, without HTTP), compared in turn with the
 * same weights in fp32, each pair computed on its own in padded batches. For models of architecture `bert-token-tree`.
 *
 *     npm run build && node --import tsx tools/engine-bench/engine-bench.ts [--full] [--seed 1] [--json]
 */
import { setMaxListeners } from "node:events";
import { parseArgs } from "node:util";
import type { Measurement } from "../../bench/measure/measurement.ts";
import { measurementTable, numberText, tableText } from "../../bench/report/terminal.ts";
import { CANDIDATES, SHORT } from "../../bench/workloads/fixed-sizes.ts";
import { WORKLOADS } from "../../bench/workloads/table.ts";
import { completeOptions } from "../../src/options/resolve.ts";
import { FULL, QUICK } from "./effort.ts";
import {
  firstPairs,
  manyCandidates,
  manyQuestions,
  shortLatency,
  waitingTogether,
  warmQuestion,
} from "./figures.ts";
import { type EngineRun, openSubject, scoreChecked } from "./subject.ts";
import { type ThroughputReport, throughputOf } from "./throughput.ts";

export interface EngineReport {
  readonly precision: string;
  /** Threads of the engine and of the baseline. */
  readonly threads: number;
  /** Each followed by the numbers that it is computed from. */
  readonly figures: readonly Measurement[];
  readonly throughput: readonly ThroughputReport[];
}

const FIGURES = [manyCandidates, manyQuestions, shortLatency, waitingTogether, warmQuestion];

/** Tolerance of float32 against float32 with another order of summation. */
const FP32_TOLERANCE = 1e-3;
/** Chosen: int8 changes scores by less than a tenth of their spread. */
const INT8_SHARE_OF_RANGE = 0.1;

async function measure(run: EngineRun): Promise<EngineReport> {
  await checkAgreement(run);
  const figures: Measurement[] = [];
  for (const figure of FIGURES) figures.push(...(await figure(run)));
  const throughput: ThroughputReport[] = [];
  for (const workload of WORKLOADS) {
    if (workload.request(run.seed, 0).expectedStatus === 200)
      throughput.push(await throughputOf(run, workload));
  }
  const { precision, threads } = run.subject;
  return { precision, threads, figures, throughput };
}

/** Checks that the baseline computes the same scores. @throws Error if they differ too much */
async function checkAgreement({ subject, seed, signal }: EngineRun): Promise<void> {
  const short = await subject.prepare(SHORT.request(seed, 0));
  const long = firstPairs(await subject.prepare(CANDIDATES.request(seed, 0)), 4);
  const differences: number[] = [];
  const scores: number[] = [];
  for (const prepared of [short, long]) {
    const ours = (await scoreChecked(subject.engine, prepared, signal)).scores;
    const theirs = (await scoreChecked(subject.baseline, prepared, signal)).scores;
    for (const [i, list] of ours.entries()) {
      scores.push(...list);
      differences.push(...Array.from(list, (score, j) => Math.abs(score - (theirs[i]?.[j] ?? Number.NaN))));
    }
  }
  const largest = Math.max(...differences);
  const range = Math.max(...scores) - Math.min(...scores);
  const allowed = subject.precision === "int8" ? INT8_SHARE_OF_RANGE * range : FP32_TOLERANCE;
  if (!(largest <= allowed))
    throw new Error(`engine and baseline differ by ${largest} in a score, more than ${allowed}`);
}

function reportText({ precision, threads, figures, throughput }: EngineReport): string {
  const latencies = ({ latency }: ThroughputReport) => [latency.p50, latency.p90, latency.p99, latency.max];
  return [
    measurementTable(`Engine in ${precision}, ${threads} threads`, figures),
    {
      title: "Engine by workload: 16 callers; latency of one caller in ms",
      head: ["workload", "requests/s", "decisions/s", "pairs/s", "p50", "p90", "p99", "max"],
      rows: throughput.map((report) => [
        report.workload,
        ...report.rates.map(({ value }) => numberText(value)),
        ...latencies(report).map((ms) => (ms === null ? "-" : numberText(ms))),
      ]),
    },
  ]
    .map(tableText)
    .join("\n\n");
}

const { values } = parseArgs({
  options: {
    full: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
  },
});
// a busy machine must not refuse the longest requests
const subject = await openSubject(completeOptions({ deadlineMs: 600_000 }));
try {
  const { signal } = new AbortController();
  setMaxListeners(0, signal); // every request in progress adds a listener
  const report = await measure({
    subject,
    effort: values.full ? FULL : QUICK,
    seed: Number(values.seed),
    signal,
  });
  console.log(values.json ? JSON.stringify(report, null, 2) : reportText(report));
} finally {
  await subject.close();
}
