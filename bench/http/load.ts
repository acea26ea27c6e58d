import { systemClock } from "../../src/inference/clock.ts";
import type { Effort } from "../effort.ts";
import { Latencies, type LatencySummary } from "../measure/latencies.ts";
import { type Measurement, measurement } from "../measure/measurement.ts";
import { type OutcomeCounts, Outcomes } from "../measure/outcomes.ts";
import { Random } from "../random.ts";
import { forFewerTokens } from "../workloads/limits.ts";
import type { BenchRequest, Workload } from "../workloads/workload.ts";
import { closedLoop } from "./closed-loop.ts";
import { openLoop, poissonArrivals } from "./open-loop.ts";
import { findFault } from "./reply-check.ts";
import type { ServerFacts, Target } from "./target.ts";

/** A server under load, with its own sequence of requests. Two servers get the same requests in the same order. */
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

  /** Reads the server's facts. From then on it may refuse requests that are too long for it. */
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
  /** Offered rate of the open loop, in requests per second. */
  readonly offered: number | null;
  /** Correct answers per second. */
  readonly throughput: Measurement;
  /** Median latency of each round's correct answers. */
  readonly typical: Measurement;
  /** Latencies of the correct answers of all rounds together. */
  readonly latency: LatencySummary;
}

/** Collected results of a level. */
class Level {
  readonly latencies = new Latencies();
  readonly outcomes = new Outcomes();
  readonly rates: number[] = [];
  readonly medians: number[] = [];

  add(result: { latencies: Latencies; outcomes: Outcomes; elapsedMs: number }): void {
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

/** Measures every level on every server in turn, round by round. @returns [servers][levels] */
export async function closedLevels(
  servers: readonly Loaded[],
  levels: readonly number[],
  { effort, signal, progress }: LoadRun,
): Promise<LevelReport[][]> {
  const gathered = servers.map(() => levels.map(() => new Level()));
  for (let round = 0; round < effort.httpRounds; round++) {
    for (const [i, callers] of levels.entries()) {
      for (const s of inTurn(servers, round)) {
        progress(`${callers} callers (round ${round + 1} of ${effort.httpRounds}): ${servers[s]?.label}`);
        const server = servers[s];
        if (!server) continue;
        const limits = { budgetMs: effort.closedMs, maxRequests: effort.maxRequests };
        const result = await closedLoop(server.target, { callers, next: server.next, signal, ...limits });
        gathered[s]?.[i]?.add(result);
      }
    }
  }
  return gathered.map((ofServer, s) =>
    ofServer.map((level, i) => {
      const callers = levels[i] ?? 0;
      return level.report(`http.${servers[s]?.label}.closed.${callers}`, { callers, offered: null });
    }),
  );
}

/** Maximum wait for answers after the last request. */
const PATIENCE_MS = 15_000;

/** Measures every rate on every server in turn, round by round. @returns [servers][rates] */
export async function openLevels(
  servers: readonly Loaded[],
  rates: readonly number[],
  { effort, seed, signal, progress }: LoadRun,
): Promise<LevelReport[][]> {
  const gathered = servers.map(() => rates.map(() => new Level()));
  for (let round = 0; round < effort.httpRounds; round++) {
    for (const [i, rate] of rates.entries()) {
      for (const s of inTurn(servers, round)) {
        const server = servers[s];
        if (!server) continue;
        progress(
          `${rate.toFixed(1)} requests/s (round ${round + 1} of ${effort.httpRounds}): ${server.label}`,
        );
        const limits = { ms: effort.openMs, count: effort.maxRequests };
        // the loop's own timeout comes first
        const patience = { signal, timeoutMs: effort.openMs + PATIENCE_MS };
        // both servers get the same requests at the same times
        const arrivalsMs = poissonArrivals(new Random(seed, "arrivals", round, i), rate, limits);
        const requests = arrivalsMs.map(() => server.next());
        const send = async (index: number) => {
          const request = requests[index];
          if (!request) throw new Error("no such request");
          const { status, body } = await server.target.send(request, patience);
          return { status, fault: findFault(request, status, body) };
        };
        gathered[s]?.[i]?.add(
          await openLoop({ arrivalsMs, send, clock: systemClock, patienceMs: PATIENCE_MS, signal }),
        );
      }
    }
  }
  return gathered.map((ofServer, s) =>
    ofServer.map((level, i) => {
      const offered = rates[i] ?? 0;
      return level.report(`http.${servers[s]?.label}.open.${i}`, { callers: null, offered });
    }),
  );
}

/** Indexes of the servers, in reverse order every second round. */
function inTurn(servers: readonly Loaded[], round: number): number[] {
  const indexes = servers.map((_, i) => i);
  return round % 2 === 0 ? indexes : indexes.reverse();
}
