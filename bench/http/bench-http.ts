import { type Measurement, measurement } from "../measure/measurement.ts";
import { ratios } from "../measure/statistics.ts";
import { MOST_BYTES, MOST_PAIRS, MOST_TOKENS, TOO_MANY_TOKENS } from "../workloads/limits.ts";
import type { Workload } from "../workloads/workload.ts";
import { closedLevels, type LevelReport, Loaded, type LoadRun, openLevels } from "./load.ts";
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
  const servers = subjects.map(({ target, label }) => new Loaded(target, label, workload, run.seed));
  const facts: ServerFacts[] = [];
  for (const server of servers) facts.push(await server.meet(run.signal));
  run.progress("warming up");
  for (const server of servers) await warmUp(server, run);

  // fewer callers if there is not a request for each
  const callers = MOST_CALLERS.filter((count) => count <= run.effort.maxRequests);
  const closed = await closedLevels(servers, callers, run);
  const saturations = closed.map((levels) => Math.max(...levels.map(({ throughput }) => throughput.value)));
  const shares = run.effort.name === "full" ? SHARES_FULL : SHARES_QUICK;
  const rates = rate === undefined ? shares.map((share) => share * (saturations[0] ?? 1)) : [rate];
  const open = await openLevels(servers, rates, run);

  const reports = subjects.map(({ label, url }, i): ServerReport => {
    const fact = facts[i];
    if (!fact) throw new Error("a server without facts");
    return {
      label,
      url,
      facts: fact,
      closed: closed[i] ?? [],
      open: open[i] ?? [],
      saturation: saturations[i] ?? 0,
    };
  });
  const limits = run.effort.name === "full" ? await benchLimits(subjects[0]?.target, run) : [];
  const { name, title } = workload;
  return { workload: { name, title }, servers: reports, against: compareServers(reports), limits };
}

/** Warm-up: a few requests of every path, so that compilation and connections do not count. */
async function warmUp({ target, next }: Loaded, { effort, signal }: LoadRun): Promise<void> {
  const count = Math.min(16, effort.maxRequests);
  for (let i = 0; i < count; i++) {
    signal.throwIfAborted();
    await target.sendSurely(next(), signal);
  }
}

async function benchLimits(target: Target | undefined, run: LoadRun): Promise<LimitReport[]> {
  const reports: LimitReport[] = [];
  if (!target) return reports;
  for (const workload of [MOST_PAIRS, MOST_TOKENS, MOST_BYTES, TOO_MANY_TOKENS]) {
    const loaded = new Loaded(target, workload.name, workload, run.seed);
    await loaded.meet(run.signal);
    const [[level] = []] = await closedLevels([loaded], [1], run);
    if (level) reports.push({ workload: workload.name, title: workload.title, level });
  }
  return reports;
}

/** Throughput and median latency of each level, as ratios of the first server to the second, round by round. */
function compareServers([first, second]: readonly ServerReport[]): Measurement[] {
  if (!first || !second) return [];
  const pairs = (kind: "closed" | "open") =>
    first[kind].flatMap((level, i) => {
      const other = second[kind][i];
      return other ? [{ level, other }] : [];
    });
  const ratio = (
    name: string,
    title: string,
    better: "higher" | "lower",
    ours: Measurement,
    theirs: Measurement,
  ) => measurement({ name: `against.${name}`, title, unit: "x", better }, ratios(ours.rounds, theirs.rounds));
  return [
    ...pairs("closed").map(({ level, other }) =>
      ratio(
        `callers-${level.callers}`,
        `throughput with ${level.callers} callers`,
        "higher",
        level.throughput,
        other.throughput,
      ),
    ),
    ...pairs("closed").map(({ level, other }) =>
      ratio(
        `callers-${level.callers}-p50`,
        `median latency with ${level.callers} callers`,
        "lower",
        level.typical,
        other.typical,
      ),
    ),
    ...pairs("open").map(({ level, other }, i) =>
      ratio(
        `rate-${i}-p50`,
        `median latency at ${level.offered?.toFixed(1)} requests/s`,
        "lower",
        level.typical,
        other.typical,
      ),
    ),
  ];
}
