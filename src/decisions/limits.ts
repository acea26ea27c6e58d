import { MAX_NESTING } from "../json/read.ts";

/** Limits that do not depend on the model. The contract's schema states them too, where it can. */
export const REQUEST_LIMITS = {
  maxBodyBytes: 2_097_152,
  /** Levels of objects and arrays. */
  maxNesting: MAX_NESTING,
  maxQuestions: 32,
  /** Candidates per question. */
  minCandidates: 2,
  maxCandidates: 64,
  /** Pairs per request. */
  maxPairs: 256,
} as const;
