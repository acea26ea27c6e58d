import { REQUEST_LIMITS } from "../../src/decisions/request.ts";
import { Random } from "../random.ts";
import { type QuestionBody, rankRequest, systemoneRequest } from "./bodies.ts";
import { distinctTexts, SPECIAL_TOKENS as SPECIAL, textOf } from "./texts.ts";
import type { BenchRequest, Workload } from "./workload.ts";

const { maxQuestions, maxCandidates } = REQUEST_LIMITS;

/** Tokens of each part, special tokens included. */
interface Sizes {
  readonly state: number;
  readonly question: number;
  readonly candidate: number;
  readonly questions: number;
  /** Candidates per question. */
  readonly candidates: number;
}

/** Requests of one size, each with a different state. */
function fixedSize(name: string, title: string, sizes: Sizes): Workload {
  return {
    name,
    title,
    isWarm: false,
    request: (seed, index) => sized(new Random(seed, name, index), sizes),
  };
}

/**
 * One question becomes a ranking, several become rubrics. Neither shows labels to the model, so token counts are exact.
 */
export function sized(random: Random, sizes: Sizes): BenchRequest {
  const state = textOf(random, sizes.state - SPECIAL.state);
  const question = () => textOf(random, sizes.question - SPECIAL.question);
  const candidates = () => distinctTexts(random, sizes.candidates, sizes.candidate - SPECIAL.candidate);
  if (sizes.questions === 1) return rankRequest(state, question(), candidates());
  const questions = Array.from({ length: sizes.questions }, (_, i): [string, QuestionBody] => [
    `q${i}`,
    { type: "score", instructions: question(), criteria: candidates() },
  ]);
  return systemoneRequest(state, Object.fromEntries(questions));
}

export const SHORT = fixedSize("short", "2 candidates, 45 tokens in total", {
  state: 18,
  question: 5,
  candidate: 11,
  questions: 1,
  candidates: 2,
});

export const MEDIUM = fixedSize("medium", "3 questions x 4 candidates of 12 tokens, 160-token state", {
  state: 160,
  question: 12,
  candidate: 12,
  questions: 3,
  candidates: 4,
});

export const CANDIDATES = fixedSize(
  "candidates",
  `${maxCandidates} candidates of 15 tokens, 512-token state`,
  {
    state: 512,
    question: 10,
    candidate: 15,
    questions: 1,
    candidates: maxCandidates,
  },
);

export const QUESTIONS = fixedSize(
  "questions",
  `${maxQuestions} questions x 4 candidates, 1,000-token state`,
  {
    state: 1000,
    question: 12,
    candidate: 8,
    questions: maxQuestions,
    candidates: 4,
  },
);
