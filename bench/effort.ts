/** Amount of measurement. Every measurement is bounded by time and by count. */
export interface Effort {
  readonly name: "quick" | "full";
  /** Interleaved rounds of a comparison. */
  readonly rounds: number;
  /** Time per measurement in a round. */
  readonly sliceMs: number;
  /** Requests per measurement. */
  readonly maxRequests: number;
  /** No round of a comparison starts after this time, except for the first three. */
  readonly figureMs: number;
  /** Rounds of each workload's throughput, and the time of one measurement in them. */
  readonly throughputRounds: number;
  readonly throughputMs: number;
  /** Pairs that the baseline scores per round, for the 512-token and the 1,000-token state. */
  readonly baselinePairs: { readonly candidates: number; readonly questions: number };
  /** Batch size of the baseline. */
  readonly baselineBatch: number;
  /** Time per point of the roofline. */
  readonly roofPointMs: number;
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
 * About two minutes on two cores. The baseline's batches have four pairs, which is not slower than 32 (measured). An
 * HTTP level has about a hundred answers at 25 answers/s. The maximum throughput is the largest of seven such rates.
 */
export const QUICK: Effort = {
  name: "quick",
  rounds: 3,
  sliceMs: 250,
  maxRequests: 5_000,
  figureMs: 1_200,
  throughputRounds: 3,
  throughputMs: 250,
  baselinePairs: { candidates: 4, questions: 2 },
  baselineBatch: 4,
  roofPointMs: 40,
  httpRounds: 1,
  closedMs: 4_000,
  openMs: 6_000,
  starts: 2,
  memoryParts: 2,
};

/** Eight rounds, enough for `--compare` to detect a difference in any of a hundred figures; see report/compare.ts. */
export const FULL: Effort = {
  name: "full",
  rounds: 9,
  sliceMs: 2_000,
  maxRequests: 20_000,
  figureMs: 240_000,
  throughputRounds: 8,
  throughputMs: 1_000,
  baselinePairs: { candidates: 32, questions: 32 },
  baselineBatch: 32,
  roofPointMs: 200,
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
    rounds: Math.min(effort.rounds, Math.max(1, count)),
    httpRounds: Math.min(effort.httpRounds, Math.max(1, count)),
    throughputRounds: Math.min(effort.throughputRounds, Math.max(1, count)),
    starts: Math.min(effort.starts, Math.max(1, count)),
    sliceMs: atMost(effort.sliceMs),
    maxRequests: Math.min(effort.maxRequests, count),
    figureMs: atMost(effort.figureMs),
    throughputMs: atMost(effort.throughputMs),
    baselinePairs: {
      candidates: Math.min(effort.baselinePairs.candidates, Math.max(2, count)),
      questions: Math.min(effort.baselinePairs.questions, Math.max(4, count)),
    },
    roofPointMs: atMost(effort.roofPointMs),
    closedMs: atMost(effort.closedMs),
    openMs: atMost(effort.openMs),
  };
}
