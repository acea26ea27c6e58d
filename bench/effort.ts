/** Amount of measurement. Every measurement is bounded by time and by count. */
export interface Effort {
  readonly name: "quick" | "full";
  /** Requests per measurement. */
  readonly maxRequests: number;
  /** Rounds per HTTP level. */
  readonly httpRounds: number;
  /** Time per level of the closed loop and per rate of the open loop, in a round. */
  readonly closedMs: number;
  readonly openMs: number;
  /** Number of starts of the service. */
  readonly starts: number;
  /** Number of memory samples under load. Each takes as long as a level of the closed loop. */
  readonly memoryParts: number;
}

/**
 * About a minute on two cores. An HTTP level has about a hundred answers at 25 answers/s. The maximum throughput is the
 * largest of seven such rates.
 */
export const QUICK: Effort = {
  name: "quick",
  maxRequests: 5_000,
  httpRounds: 1,
  closedMs: 4_000,
  openMs: 6_000,
  starts: 2,
  memoryParts: 2,
};

/** Eight rounds, enough for `--compare` to detect a difference in any of a hundred figures; see report/compare.ts. */
export const FULL: Effort = {
  name: "full",
  maxRequests: 20_000,
  httpRounds: 8,
  closedMs: 2_500,
  openMs: 5_000,
  starts: 8,
  memoryParts: 64,
};

/** An effort with the same time per HTTP level, split into at least this many rounds, for comparing two servers. */
export function inRounds(effort: Effort, least: number): Effort {
  const httpRounds = Math.max(effort.httpRounds, least);
  const share = effort.httpRounds / httpRounds;
  return { ...effort, httpRounds, closedMs: share * effort.closedMs, openMs: share * effort.openMs };
}

/** An effort with smaller bounds. @param bounds maximum time and count of each measurement */
export function bounded(
  effort: Effort,
  bounds: { readonly seconds?: number | undefined; readonly count?: number | undefined },
): Effort {
  const { seconds = Number.POSITIVE_INFINITY, count = Number.POSITIVE_INFINITY } = bounds;
  const atMost = (ms: number) => Math.min(ms, seconds * 1000);
  return {
    ...effort,
    maxRequests: Math.min(effort.maxRequests, count),
    httpRounds: Math.min(effort.httpRounds, Math.max(1, count)),
    starts: Math.min(effort.starts, Math.max(1, count)),
    closedMs: atMost(effort.closedMs),
    openMs: atMost(effort.openMs),
  };
}
