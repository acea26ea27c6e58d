import { systemClock } from "../../src/inference/clock.ts";
import type { Effort } from "../effort.ts";
import { Latencies, type LatencySummary } from "../measure/latencies.ts";
import { type Measurement, measurement } from "../measure/measurement.ts";
import { type OutcomeCounts, Outcomes } from "../measure/outcomes.ts";
import { Random } from "../random.ts";
import { forFewerTokens } from "../workloads/limits.ts";
import type { BenchRequest, Workload } from "../workloads/workload.ts";
import { closedLoop, type LoopResult } from "./closed-loop.ts";
import { openLoop, poissonArrivals } from "./open-loop.ts";
import { findFault } from "./reply-check.ts";
import type { ServerFacts, Target } from "./target.ts";

/** A server under load, with requests of its own: two servers are sent the same ones in the same order. */
export class Loaded {
  readonly target: Target;
  readonly label: string;
  #workload: Workload;
  readonly #seed: number;
  #next = 0;

  constructor(target: Target, label: string, workload: Workload, seed: number) {
    this.target = target;
    this.label = label;
    this.#workload = workload;
    this.#seed = seed;
  }

  /** Asks the server who it is, and from then on lets it refuse what is too long for it. */
  async meet(signal: AbortSignal): Promise<ServerFacts> {
    const facts = await this.target.facts(signal);
    if (facts.takesFewerTokens && !this.#workload.isOwn) this.#workload = forFewerTokens(this.#workload);
    return facts;
  }

  readonly next = (): BenchRequest => this.#workload.request(this.#seed, this.#next++);
}

export interface LoadRun {
  readonly effort: Effort;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

/** One number of callers, or one rate. */
export interface LevelReport extends OutcomeCounts {
  /** Callers of the closed loop. */
  readonly callers: number | null;
  /** Requests a second that were to be sent in the open loop. */
  readonly offered: number | null;
  /** Right answers a second. */
  readonly throughput: Measurement;
  /** The median latency of each round's right answers. */
  readonly typical: Measurement;
  /** Of the right answers of all rounds together. */
  readonly latency: LatencySummary;
}

/** What a level gathers over its rounds. */
class Level {
  readonly latencies = new Latencies();
  readonly outcomes = new Outcomes();
  readonly rates: number[] = [];
  readonly medians: number[] = [];

  add(result: LoopResult): void {
    this.latencies.add(result.latencies);
    this.outcomes.add(result.outcomes);
    this.medians.push(result.latencies.summary().p50 ?? Number.NaN);
    this.rates.push(result.elapsedMs > 0 ? result.latencies.count / (result.elapsedMs / 1000) : 0);
  }

  report(name: string, place: { callers: number | null; offered: number | null }): LevelReport {
    const title = place.callers === null ? `${place.offered} requests/s offered` : `${place.callers} callers`;
    return {
      ...place,
      ...this.outcomes.counts(),
      throughput: measurement(
        { name: `${name}.throughput`, title, unit: "requests/s", better: "higher" },
        this.rates,
      ),
      typical: measurement({ name: `${name}.p50`, title, unit: "ms", better: "lower" }, this.medians),
      latency: this.latencies.summary(),
    };
  }
}

/** Every number of callers on every server in turn, round after round. @returns [servers][levels] */
export function closedLevels(
  servers: readonly Loaded[],
  levels: readonly number[],
  run: LoadRun,
): Promise<LevelReport[][]> {
  const { effort, signal } = run;
  const limits = { budgetMs: effort.closedMs, maxRequests: effort.maxRequests, signal };
  return inTurn(servers, levels, run, {
    textOf: (callers) => `${callers} callers`,
    measure: ({ target, next }, callers) => closedLoop(target, { callers, next, ...limits }),
    report: (level, server, callers) =>
      level.report(`http.${server}.closed.${callers}`, { callers, offered: null }),
  });
}

/** How long answers are waited for after the last request was sent. */
const PATIENCE_MS = 15_000;

/** Every rate on every server in turn, round after round. @returns [servers][rates] */
export function openLevels(
  servers: readonly Loaded[],
  rates: readonly number[],
  run: LoadRun,
): Promise<LevelReport[][]> {
  const { effort, seed, signal } = run;
  const limits = { ms: effort.openMs, count: effort.maxRequests };
  // the loop itself loses patience first
  const patience = { signal, timeoutMs: effort.openMs + PATIENCE_MS };
  return inTurn(servers, rates, run, {
    textOf: (rate) => `${rate.toFixed(1)} requests/s`,
    measure: ({ target, next }, rate, i, round) => {
      // both servers are sent the same requests at the same times
      const arrivalsMs = poissonArrivals(new Random(seed, "arrivals", round, i), rate, limits);
      const requests = arrivalsMs.map(() => next());
      const send = async (index: number) => {
        const request = requests[index];
        if (!request) throw new Error("no such request");
        const { status, body } = await target.send(request, patience);
        return { status, fault: findFault(request, status, body) };
      };
      return openLoop({ arrivalsMs, send, clock: systemClock, patienceMs: PATIENCE_MS, signal });
    },
    report: (level, server, offered, i) =>
      level.report(`http.${server}.open.${i}`, { callers: null, offered }),
  });
}

interface Kind {
  readonly textOf: (load: number) => string;
  readonly measure: (server: Loaded, load: number, index: number, round: number) => Promise<LoopResult>;
  readonly report: (level: Level, server: string, load: number, index: number) => LevelReport;
}

/** @returns [servers][loads] */
async function inTurn(
  servers: readonly Loaded[],
  loads: readonly number[],
  { effort, progress }: LoadRun,
  { textOf, measure, report }: Kind,
): Promise<LevelReport[][]> {
  const subjects = servers.map((server) => ({ server, levels: loads.map(() => new Level()) }));
  for (let round = 0; round < effort.httpRounds; round++) {
    for (const [i, load] of loads.entries()) {
      // the other order every second round
      for (const { server, levels } of round % 2 === 0 ? subjects : subjects.toReversed()) {
        progress(`${textOf(load)} (round ${round + 1} of ${effort.httpRounds}): ${server.label}`);
        levels[i]?.add(await measure(server, load, i, round));
      }
    }
  }
  return subjects.map(({ server, levels }) =>
    levels.map((level, i) => report(level, server.label, loads[i] ?? 0, i)),
  );
}
