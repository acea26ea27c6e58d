import { at, isMap, type Json } from "../client/json.ts";

/** Bounds of requests; each has its name in `limits` of `/health`. */
export interface Limits {
  readonly maxBodyBytes: number;
  readonly maxNesting: number;
  readonly maxQuestions: number;
  readonly minCandidates: number;
  /** Of a question, and of a ranking. */
  readonly maxCandidates: number;
  /** Candidates of all questions of a request together. */
  readonly maxPairs: number;
  readonly maxStateQuestionTokens: number;
  readonly maxCandidateTokens: number;
  readonly queueCapacity: number;
}

/** The contract's. Written here, because checks use nothing of the service that they check; a test compares both. */
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

/** Chosen: a request with more questions or candidates would be an attack. */
const LARGEST_COUNT = 1024;
/** Chosen: questions, and candidates, that a check of another subject may send. */
const FEW = 24;

/**
 * The server's own bounds where `/health` tells them under the contract's names, otherwise the contract's. Those of bodies, of
 * nesting and of the fewest candidates are always the contract's.
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

/** Whether requests reach each of these bounds before another one, and stay of a moderate size. */
function areTestable({
  maxQuestions,
  maxCandidates,
  maxPairs,
}: Pick<Limits, "maxQuestions" | "maxCandidates" | "maxPairs">): boolean {
  return (
    Math.max(maxQuestions, maxCandidates, maxPairs) <= LARGEST_COUNT &&
    Math.min(maxQuestions, maxCandidates) >= FEW &&
    maxPairs >= 2 * Math.max(maxCandidates, maxQuestions) && // a yes/no question has two
    maxPairs < maxCandidates * (maxQuestions - 1)
  );
}
