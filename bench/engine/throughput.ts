import { Latencies, type LatencySummary } from "../measure/latencies.ts";
import { type Measurement, measurement } from "../measure/measurement.ts";
import { roundsWithin } from "../measure/rounds.ts";
import { median } from "../measure/statistics.ts";
import type { Workload } from "../workloads/workload.ts";
import { idealMs, type Roof } from "./roof.ts";
import { arithmeticOfSlice, asPrecision } from "./saturation.ts";
import { enoughFor, runSlice, type Slice, Supply } from "./slice.ts";
import type { EngineRun } from "./subject.ts";

/** Results of one workload. */
export interface ThroughputReport {
  readonly workload: string;
  readonly title: string;
  /** With many callers. */
  readonly rates: readonly Measurement[];
  /** Multiply-adds of useful arithmetic per second, with many callers. */
  readonly rate: number;
  /** Share of the roof, with many callers. */
  readonly share: Measurement;
  /** Average useful tokens per forward, with many callers. */
  readonly tokensPerForward: number;
  /** Latency with one caller. */
  readonly latency: LatencySummary;
}

/** Callers that keep the engine busy. Chosen. */
const CALLERS = 16;

/** Requests, decisions, pairs and tokens per second with many callers, and the latency with one. */
export async function throughputOf(
  run: EngineRun,
  workload: Workload,
  roof: Roof,
): Promise<ThroughputReport> {
  const { subject, effort, seed, signal } = run;
  const supply = new Supply(workload, seed + 4, subject);
  const latencies = new Latencies();
  const rounds: Record<string, number[]> = {};
  const shares: number[] = [];
  const forwardTokens: number[] = [];
  const arithmeticRates: number[] = [];
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
    const before = subject.engine.health().counters.forwards;
    const many = await slice(CALLERS);
    const forwards = subject.engine.health().counters.forwards - before;
    const seconds = many.elapsedMs / 1000;
    const arithmetic = await arithmeticOfSlice(subject, many);
    const amounts = {
      "requests/s": many.served.length,
      "decisions/s": many.decisions,
      "pairs/s": many.pairs,
      "tokens/s": arithmetic.jointTokens,
    };
    for (const [unit, amount] of Object.entries(amounts)) {
      rounds[unit] ??= [];
      rounds[unit].push(amount / seconds);
    }
    const rates = { fp32: roof.best.fp32.rate, int8: roof.best.int8.rate };
    shares.push((100 * idealMs(arithmetic, asPrecision(subject.precision), rates)) / many.elapsedMs);
    arithmeticRates.push((arithmetic.linear + arithmetic.attention) / seconds);
    forwardTokens.push(arithmetic.computedTokens / forwards);
  }
  const name = `engine.${workload.name}`;
  const rate = (unit: "requests/s" | "decisions/s" | "pairs/s" | "tokens/s") =>
    measurement({ name: `${name}.${unit}`, title: unit, unit, better: "higher" }, rounds[unit] ?? []);
  return {
    workload: workload.name,
    title: workload.title,
    rates: [rate("requests/s"), rate("decisions/s"), rate("pairs/s"), rate("tokens/s")],
    rate: median(arithmeticRates),
    share: measurement(
      { name: `${name}.share`, title: "share of the roof", unit: "%", better: "higher" },
      shares,
    ),
    tokensPerForward: forwardTokens.reduce((sum, tokens) => sum + tokens, 0) / forwardTokens.length,
    latency: latencies.summary(),
  };
}
