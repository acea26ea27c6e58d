import { type Measurement, measurement } from "../measure/statistics.ts";
import { LIMITS } from "../workloads/generated.ts";
import type { Workload } from "../workloads/workload.ts";
import {
  closedLevel,
  type Level,
  type LevelReport,
  Loaded,
  type LoadRun,
  measureLevels,
  openLevel,
} from "./load.ts";
import type { ServerFacts, Target } from "./target.ts";

/** Rates of the open loop, as shares of the maximum throughput. The report names the last one. */
const SHARES_QUICK = [0.4, 0.8];
const SHARES_FULL = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
export const NAMED_SHARE = 0.8;

const MOST_CALLERS = [1, 2, 4, 8, 16, 32, 64];

export interface ServerReport {
  /** "service", or "against" for the second one. */
  readonly label: string;
  /** Null for the service that the bench started itself. */
  readonly url: string | null;
  readonly facts: ServerFacts;
  readonly closed: readonly LevelReport[];
  readonly open: readonly LevelReport[];
  /** The largest throughput of the closed loop, in correct answers per second. */
  readonly saturation: number;
}

export interface HttpReport {
  readonly workload: { readonly name: string; readonly title: string };
  readonly servers: readonly ServerReport[];
  /** Ratios of the first server to the second, if there are two. */
  readonly against: readonly Measurement[];
  /** Requests at the contract's limits, one caller; only in a full run. */
  readonly limits: readonly LimitReport[];
}

export interface LimitReport {
  readonly workload: string;
  readonly title: string;
  readonly level: LevelReport;
}

export interface HttpSubject {
  readonly target: Target;
  readonly label: string;
  readonly url: string | null;
}

/** Closed loop, then open loop at shares of the first server's maximum, or at `rate`. */
export async function benchHttp(
  subjects: readonly HttpSubject[],
  workload: Workload,
  rate: number | undefined,
  run: LoadRun,
): Promise<HttpReport> {
  const { effort, signal, progress, seed } = run;
  const servers = subjects.map(({ target, label }) => new Loaded(target, label, workload, seed));
  const facts: ServerFacts[] = [];
  for (const { target } of servers) facts.push(await target.facts(signal));
  progress("warming up");
  for (const server of servers) {
    // a few requests, so that compilation and connections do not count
    for (let i = 0; i < Math.min(16, effort.maxRequests); i++) {
      signal.throwIfAborted();
      await server.target.sendSurely(server.next(), signal);
    }
  }
  const measure = (levels: readonly Level[]) => measureLevels(servers, levels, run);
  // fewer callers if there is not a request for each
  const callers = MOST_CALLERS.filter((count) => count <= effort.maxRequests);
  const closed = await measure(callers.map((count) => closedLevel(count, run)));
  const saturations = closed.map((levels) => Math.max(...levels.map(({ throughput }) => throughput.value)));
  const isFull = effort.name === "full";
  const shares = isFull ? SHARES_FULL : SHARES_QUICK;
  const rates = rate === undefined ? shares.map((share) => share * (saturations[0] ?? 1)) : [rate];
  const open = await measure(rates.map((each, at) => openLevel(each, at, run)));

  const reports = facts.map((fact, i): ServerReport => {
    const { label = "", url = null } = subjects[i] ?? {};
    return {
      ...{ label, url, facts: fact, closed: closed[i] ?? [], open: open[i] ?? [] },
      saturation: saturations[i] ?? 0,
    };
  });
  const limits = isFull ? await benchLimits(subjects[0]?.target, run) : [];
  const { name, title } = workload;
  return { workload: { name, title }, servers: reports, against: compareServers(reports), limits };
}

async function benchLimits(target: Target | undefined, run: LoadRun): Promise<LimitReport[]> {
  const reports: LimitReport[] = [];
  if (!target) return reports;
  for (const workload of LIMITS) {
    const { name, title } = workload;
    const server = new Loaded(target, name, workload, run.seed);
    const [[level] = []] = await measureLevels([server], [closedLevel(1, run)], run);
    if (level) reports.push({ workload: name, title, level });
  }
  return reports;
}

/** Throughput and median latency of each level, as ratios of the first server to the second, round by round. */
function compareServers([first, second]: readonly ServerReport[]): Measurement[] {
  if (!first || !second) return [];
  const ratios = (
    kind: "closed" | "open",
    figure: "throughput" | "typical",
    named: (level: LevelReport, at: number) => { readonly name: string; readonly title: string },
  ) =>
    first[kind].map((level, at) => {
      const [ours, theirs] = [level[figure], second[kind][at]?.[figure]];
      const { name, title } = named(level, at);
      return measurement(
        { name: `against.${name}`, title, unit: "x", better: ours.better },
        ours.rounds.map((value, round) => value / (theirs?.rounds[round] ?? Number.NaN)),
      );
    });
  return [
    ...ratios("closed", "throughput", ({ callers }) => {
      return { name: `callers-${callers}`, title: `throughput with ${callers} callers` };
    }),
    ...ratios("closed", "typical", ({ callers }) => {
      return { name: `callers-${callers}-p50`, title: `median latency with ${callers} callers` };
    }),
    ...ratios("open", "typical", ({ offered }, at) => {
      return { name: `rate-${at}-p50`, title: `median latency at ${offered?.toFixed(1)} requests/s` };
    }),
  ];
}
