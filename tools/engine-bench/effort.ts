/** Amount of measurement. Every measurement is bounded by time and by count. */
export interface EngineEffort {
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
}

/** About a minute on two cores. The baseline's batches have four pairs, which is not slower than 32 (measured). */
export const QUICK: EngineEffort = {
  rounds: 3,
  sliceMs: 250,
  maxRequests: 5_000,
  figureMs: 1_200,
  throughputRounds: 3,
  throughputMs: 250,
  baselinePairs: { candidates: 4, questions: 2 },
  baselineBatch: 4,
};

export const FULL: EngineEffort = {
  rounds: 9,
  sliceMs: 2_000,
  maxRequests: 20_000,
  figureMs: 240_000,
  throughputRounds: 8,
  throughputMs: 1_000,
  baselinePairs: { candidates: 32, questions: 32 },
  baselineBatch: 32,
};
