import { MAX_NESTING } from "../json/read.ts";

/** Limits of every request, whatever the model. Those that a schema can say stand in the contract too. */
export const REQUEST_LIMITS = {
  maxBodyBytes: 2_097_152,
  /** Levels of objects and arrays. */
  maxNesting: MAX_NESTING,
  maxQuestions: 32,
  /** Of one question. */
  minCandidates: 2,
  maxCandidates: 64,
  /** (state, question, candidate) combinations of one request. */
  maxPairs: 256,
} as const;
