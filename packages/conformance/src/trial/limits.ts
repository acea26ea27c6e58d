import { at, isMap, type Json } from "../client/json.ts";

/** Limits on requests. `limits` of `/health` has them in snake case. */
export interface Limits {
  readonly maxBodyBytes: number;
  readonly maxNesting: number;
  readonly maxQuestions: number;
  readonly minCandidates: number;
  /** Candidates of a question or a ranking. */
  readonly maxCandidates: number;
  /** Candidates of all questions of a request in total. */
  readonly maxPairs: number;
  readonly maxStateQuestionTokens: number;
  readonly maxCandidateTokens: number;
  readonly queueCapacity: number;
}

/** The contract's limits. Repeated here because checks share no code with the service; a test compares both. */
export const CONTRACT_LIMITS: Limits = {
  maxBodyBytes: 2_097_152,
  maxNesting: 100,
  maxQuestions: 32,
  minCandidates: 2,
  maxCandidates: 64,
  maxPairs: 256,
  maxStateQuestionTokens: 2048,
  maxCandidateTokens: 768,
  queueCapacity: 128,
};

/** Larger limits on questions or candidates are not tested. Chosen. */
const LARGEST_COUNT = 1024;
/** Questions, and candidates, that checks of other subjects may send. Chosen. */
const FEW = 24;

/**
 * The limits that `/health` reports under the contract's names, otherwise the contract's. Body size, nesting and the
 * fewest candidates are always the contract's.
 */
export function readLimits(health: Json | undefined): Limits {
  const limits = at(health, "limits");
  const read = (name: string, otherwise: number) => {
    const value = isMap(limits) ? limits.get(name) : undefined;
    return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : otherwise;
  };
  const own = {
    maxQuestions: read("max_questions", CONTRACT_LIMITS.maxQuestions),
    maxCandidates: read("max_candidates", CONTRACT_LIMITS.maxCandidates),
    maxPairs: read("max_pairs", CONTRACT_LIMITS.maxPairs),
  };
  return {
    ...CONTRACT_LIMITS,
    ...(areTestable(own) ? own : {}),
    maxStateQuestionTokens: read("max_state_question_tokens", CONTRACT_LIMITS.maxStateQuestionTokens),
    maxCandidateTokens: read("max_candidate_tokens", CONTRACT_LIMITS.maxCandidateTokens),
    queueCapacity: read("queue_capacity", CONTRACT_LIMITS.queueCapacity),
  };
}

/** Whether requests can reach each of these limits before any other, at a moderate size. */
function areTestable({
  maxQuestions,
  maxCandidates,
  maxPairs,
}: Pick<Limits, "maxQuestions" | "maxCandidates" | "maxPairs">): boolean {
  return (
    Math.max(maxQuestions, maxCandidates, maxPairs) <= LARGEST_COUNT &&
    Math.min(maxQuestions, maxCandidates) >= FEW &&
    maxPairs >= 2 * Math.max(maxCandidates, maxQuestions) && // a noul has two candidates
    maxPairs < maxCandidates * (maxQuestions - 1)
  );
}
