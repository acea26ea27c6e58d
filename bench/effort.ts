/** How much is measured. Every measurement is bounded by a time and by a count. */
export interface Effort {
  readonly name: "quick" | "full";
  /** Interleaved rounds of a comparison. */
  readonly rounds: number;
  /** Time of one measurement in a round. */
  readonly sliceMs: number;
  /** Requests of one measurement. */
  readonly maxRequests: number;
  /** No further round of a comparison begins after that. */
  readonly figureMs: number;
  /** Pairs that the baseline scores in a round: of the 512-token state, of the 1,000-token state. */
  readonly baselinePairs: { readonly candidates: number; readonly questions: number };
  /** Pairs of one run of the baseline. */
  readonly baselineBatch: number;
  /** Time for one point of the roof. */
  readonly roofPointMs: number;
  /** Rounds of the levels of HTTP. */
  readonly httpRounds: number;
  /** Time of one level of the closed loop, of one rate of the open loop, in a round. */
  readonly closedMs: number;
  readonly openMs: number;
  /** Starts of the service. */
  readonly starts: number;
  /** Times that memory is looked at while requests come; each as long as a level of the closed loop. */
  readonly memoryParts: number;
}

/** Under a minute on two cores. The baseline runs four pairs together, which was measured to be no slower than 32. */
export const QUICK: Effort = {
  name: "quick",
  rounds: 3,
  sliceMs: 250,
  maxRequests: 5_000,
  figureMs: 1_200,
  baselinePairs: { candidates: 4, questions: 2 },
  baselineBatch: 4,
  roofPointMs: 40,
  httpRounds: 1,
  closedMs: 300,
  openMs: 1_500,
  starts: 2,
  memoryParts: 2,
};

export const FULL: Effort = {
  name: "full",
  rounds: 9,
  sliceMs: 2_000,
  maxRequests: 20_000,
  figureMs: 240_000,
  baselinePairs: { candidates: 32, questions: 32 },
  baselineBatch: 32,
  roofPointMs: 200,
  httpRounds: 5,
  closedMs: 4_000,
  openMs: 8_000,
  starts: 7,
  memoryParts: 40,
};

/** The same with a lower bound on time or count. @param bounds of each measurement */
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
    starts: Math.min(effort.starts, Math.max(1, count)),
    sliceMs: atMost(effort.sliceMs),
    maxRequests: Math.min(effort.maxRequests, count),
    figureMs: atMost(effort.figureMs),
    baselinePairs: {
      candidates: Math.min(effort.baselinePairs.candidates, Math.max(2, count)),
      questions: Math.min(effort.baselinePairs.questions, Math.max(4, count)),
    },
    roofPointMs: atMost(effort.roofPointMs),
    closedMs: atMost(effort.closedMs),
    openMs: atMost(effort.openMs),
  };
}
