import { Latencies, type LatencySummary } from "../../bench/measure/latencies.ts";
import { type Measurement, measurement } from "../../bench/measure/measurement.ts";
import { roundsWithin } from "../../bench/measure/rounds.ts";
import type { Workload } from "../../bench/workloads/workload.ts";
import { enoughFor, runSlice, type Slice, Supply } from "./slice.ts";
import type { EngineRun } from "./subject.ts";

/** Results of one workload. */
export interface ThroughputReport {
  readonly workload: string;
  readonly title: string;
  /** With many callers. */
  readonly rates: readonly Measurement[];
  /** Latency with one caller. */
  readonly latency: LatencySummary;
}

/** Callers that keep the engine busy. Chosen: twice as many as the engine has threads at most. */
const CALLERS = 16;

/** Requests, decisions and pairs per second with many callers, and the latency with one. */
export async function throughputOf(run: EngineRun, workload: Workload): Promise<ThroughputReport> {
  const { subject, effort, seed, signal } = run;
  const supply = new Supply(workload, seed + 4, subject);
  const latencies = new Latencies();
  const rounds: Record<string, number[]> = {};
  let perRequestMs = Number.POSITIVE_INFINITY;
  const slice = async (callers: number): Promise<Slice> => {
    const budgetMs = effort.throughputMs;
    const count = enoughFor(budgetMs, perRequestMs, callers, effort.maxRequests);
    const result = await runSlice(subject.engine, await supply.take(count), { callers, budgetMs, signal });
    perRequestMs = result.elapsedMs / result.served.length;
    return result;
  };
  await slice(1);
  for (const _ of roundsWithin({ rounds: effort.throughputRounds, budgetMs: effort.figureMs / 2 })) {
    const alone = await slice(1);
    for (const ms of alone.latenciesMs) latencies.record(ms);
    const many = await slice(CALLERS);
    const seconds = many.elapsedMs / 1000;
    const amounts = {
      "requests/s": many.served.length,
      "decisions/s": many.decisions,
      "pairs/s": many.pairs,
    };
    for (const [unit, amount] of Object.entries(amounts)) {
      rounds[unit] ??= [];
      rounds[unit].push(amount / seconds);
    }
  }
  const name = `engine.${workload.name}`;
  const rate = (unit: "requests/s" | "decisions/s" | "pairs/s") =>
    measurement({ name: `${name}.${unit}`, title: unit, unit, better: "higher" }, rounds[unit] ?? []);
  return {
    workload: workload.name,
    title: workload.title,
    rates: [rate("requests/s"), rate("decisions/s"), rate("pairs/s")],
    latency: latencies.summary(),
  };
}
