import { systemClock } from "../../src/inference/clock.ts";
import type { Effort } from "../effort.ts";
import { type Measurement, measurement } from "../measure/statistics.ts";
import { type LatencySummary, type OutcomeCounts, Tally } from "../measure/tally.ts";
import { Random } from "../random.ts";
import type { BenchRequest, Workload } from "../workloads/workload.ts";
import { closedLoop } from "./closed-loop.ts";
import { type LoopResult, openLoop } from "./open-loop.ts";
import { findFault } from "./reply-check.ts";
import type { Target } from "./target.ts";

/** A server under load, with its own sequence of requests. Two servers get the same requests in the same order. */
export class Loaded {
  readonly target: Target;
  readonly label: string;
  readonly #workload: Workload;
  readonly #seed: number;
  #next = 0;

  constructor(target: Target, label: string, workload: Workload, seed: number) {
    this.target = target;
    this.label = label;
    this.#workload = workload;
    this.#seed = seed;
  }

  next(): BenchRequest {
    return this.#workload.request(this.#seed, this.#next++);
  }

  /** Sends a request and checks its answer. */
  async ask(request: BenchRequest, signal: AbortSignal) {
    const { status, body } = await this.target.send(request, signal);
    return { status, fault: findFault(request, status, body) };
  }
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

/** A level to measure. */
export interface Level {
  readonly callers: number | null;
  readonly offered: number | null;
  /** Part of the names of its figures. */
  readonly name: string;
  readonly title: string;
  readonly run: (server: Loaded, round: number) => Promise<LoopResult>;
}

/** Maximum wait for answers after the last request: longer than a server's default deadline. */
const CLOSED_PATIENCE_MS = 70_000;
const OPEN_PATIENCE_MS = 15_000;

export function closedLevel(callers: number, run: Pick<LoadRun, "effort" | "signal">): Level {
  const { closedMs: budgetMs, maxRequests } = run.effort;
  return {
    callers,
    offered: null,
    name: `closed.${callers}`,
    title: `${callers} callers`,
    run: (server) =>
      closedLoop(server.target, {
        ...{ callers, budgetMs, maxRequests, patienceMs: CLOSED_PATIENCE_MS },
        next: () => server.next(),
        signal: run.signal,
      }),
  };
}

/** @param at position of the rate among those measured */
export function openLevel(rate: number, at: number, run: LoadRun): Level {
  const limits = { ms: run.effort.openMs, count: run.effort.maxRequests };
  return {
    callers: null,
    offered: rate,
    name: `open.${at}`,
    title: `${rate.toFixed(1)} requests/s`,
    run: (server, round) => {
      // both servers get the same requests at the same times
      const arrivalsMs = poissonArrivals(new Random(run.seed, "arrivals", round, at), rate, limits);
      const requests = arrivalsMs.map(() => server.next());
      return openLoop({
        ...{ clock: systemClock, patienceMs: OPEN_PATIENCE_MS, signal: run.signal },
        arrivalsMs,
        send: (index, signal) => server.ask(requests[index] ?? server.next(), signal),
      });
    },
  };
}

/**
 * Send times of independent callers: exponential gaps (a Poisson process).
 *
 * @param rate requests per second
 */
export function poissonArrivals(
  random: Random,
  rate: number,
  limits: { ms: number; count: number },
): number[] {
  const arrivals: number[] = [];
  if (!(rate > 0)) return arrivals;
  for (let at = 0; arrivals.length < limits.count; ) {
    at += (-Math.log(1 - random.next()) / rate) * 1000;
    if (at >= limits.ms) break;
    arrivals.push(at);
  }
  return arrivals;
}

/** Measures every level on every server in turn, round by round. @returns [servers][levels] */
export async function measureLevels(
  servers: readonly Loaded[],
  levels: readonly Level[],
  { effort, progress }: LoadRun,
): Promise<LevelReport[][]> {
  const cells = servers.map((server) => levels.map((level) => ({ server, level, rounds: new Rounds() })));
  for (let round = 0; round < effort.httpRounds; round++) {
    for (const at of levels.keys()) {
      const column = cells.flatMap((row) => row[at] ?? []);
      if (round % 2 === 1) column.reverse();
      for (const { server, level, rounds } of column) {
        progress(`${level.title} (round ${round + 1} of ${effort.httpRounds}): ${server.label}`);
        rounds.add(await level.run(server, round));
      }
    }
  }
  return cells.map((row) => row.map(({ server, level, rounds }) => rounds.report(server, level)));
}

/** Collected results of a level on a server. */
class Rounds {
  readonly #tally = new Tally();
  readonly #rates: number[] = [];
  readonly #medians: number[] = [];

  add({ tally, elapsedMs }: LoopResult): void {
    const { count, p50 } = tally.latency();
    this.#tally.add(tally);
    this.#medians.push(p50 ?? Number.NaN);
    this.#rates.push(elapsedMs > 0 ? count / (elapsedMs / 1000) : 0);
  }

  report({ label }: Loaded, { callers, offered, name, title }: Level): LevelReport {
    const facts = { name: `http.${label}.${name}`, title };
    return {
      callers,
      offered,
      ...this.#tally.counts(),
      throughput: measurement(
        { ...facts, name: `${facts.name}.throughput`, unit: "requests/s", better: "higher" },
        this.#rates,
      ),
      typical: measurement(
        { ...facts, name: `${facts.name}.p50`, unit: "ms", better: "lower" },
        this.#medians,
      ),
      latency: this.#tally.latency(),
    };
  }
}
