import { MAX_NESTING } from "../json/read.ts";

/**
 * Limits that do not depend on the model, as the specification has them. The schemas in openapi/ state those of
 * questions, candidates and answers again; those of `rank` (whose candidates are a list or a map), of pairs and of
 * bodies they can only describe. `test/decisions/limits.test.ts` holds every place that states one to these.
 */
export const REQUEST_LIMITS = {
  maxBodyBytes: 2_097_152,
  /** Levels of objects and arrays. */
  maxNesting: MAX_NESTING,
  maxQuestions: 32,
  /** Of a question and of a ranking, and the largest part of a dialect's question that is scored at a time. */
  minCandidates: 2,
  maxCandidates: 64,
  /** Candidates of all questions of a request together. */
  maxPairs: 256,
} as const;
