import { REQUEST_LIMITS } from "../../src/decisions/request.ts";
import { Random } from "../random.ts";
import { distinctTexts, type QuestionBody, rankRequest, systemoneRequest, textOf } from "./requests.ts";
import type { BenchRequest, Workload } from "./workload.ts";

const { maxBodyBytes, maxPairs, maxQuestions, minCandidates, maxCandidates } = REQUEST_LIMITS;
/** Of the embedded model. */
const MAX_STATE_QUESTION_TOKENS = 2_048;
/** Special tokens of BERT's parts: `[CLS] .. [SEP]`, `.. [SEP]`, `[CLS] .. [SEP]`. */
const SPECIAL = { state: 2, question: 1, candidate: 2 } as const;

/** Tokens of each part, special tokens included. */
interface Sizes {
  readonly state: number;
  readonly question: number;
  readonly candidate: number;
  readonly questions: number;
  /** Candidates per question. */
  readonly candidates: number;
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

/** @param request makes a request of the numbers of its index */
function workload(
  name: string,
  title: string,
  request: (random: Random, seed: number) => BenchRequest,
): Workload {
  return { name, title, request: (seed, index) => request(new Random(seed, name, index), seed) };
}

/** Requests of one size, each with a different state. */
function fixedSize(name: string, title: string, sizes: Sizes): Workload {
  return workload(name, title, (random) => sized(random, sizes));
}

/** Mixed sizes, as with many callers: most requests small, a few very large. Sizes are not measured traffic. */
export const MIXED = workload(
  "mixed",
  "mixed types and sizes, log-normal: states of 90 tokens (median) to 1,500 (maximum)",
  (random) => mixed(random, textOf(random, random.size(90, 0.9, 8, 1500))),
);

/** Recurring states, popular ones more often. */
const POPULAR_STATES = 12;

/** Pairs of each of the most questions. */
const EACH = maxPairs / maxQuestions;

/** Requests at the contract's limits. */
export const LIMITS: readonly Workload[] = [
  fixedSize(
    "limit-pairs",
    `${maxPairs} pairs: ${maxQuestions} questions x ${EACH} candidates of 10 tokens, 200-token state`,
    { state: 200, question: 10, candidate: 10, questions: maxQuestions, candidates: EACH },
  ),
  fixedSize("limit-tokens", "2,048 tokens of state and question, 4 candidates", {
    state: MAX_STATE_QUESTION_TOKENS - 16,
    question: 16,
    candidate: 12,
    questions: 1,
    candidates: 4,
  }),
  workload(
    "limit-bytes",
    "body of 2 MiB, answered: 400 words separated by long white space, 2 candidates",
    (random) => {
      const question = textOf(random, 8);
      const candidates = distinctTexts(random, 2, 10);
      const words = textOf(random, 400).split(" ");
      const bytesWith = (blank: number) =>
        Buffer.byteLength(rankRequest(words.join(" ".repeat(blank)), question, candidates).body);
      const blank = 1 + Math.floor((maxBodyBytes - bytesWith(1)) / (words.length - 1));
      return rankRequest(words.join(" ".repeat(blank)), question, candidates);
    },
  ),
  // the cost of a refusal
  workload("limit-refused", "body of 2 MiB, refused (422): state of about 300,000 tokens", (random) => {
    const candidates = distinctTexts(random, 2, 10);
    const part = `${textOf(random, 1000)} `;
    const room = maxBodyBytes - Buffer.byteLength(rankRequest("", "", candidates).body);
    const state = part.repeat(Math.ceil(room / part.length)).slice(0, room);
    return { ...rankRequest(state, "", candidates), expectedStatus: 422 };
  }),
];

/** Every generated workload. */
export const WORKLOADS: readonly Workload[] = [
  fixedSize("short", "2 candidates, 45 tokens in total", {
    state: 18,
    question: 5,
    candidate: 11,
    questions: 1,
    candidates: 2,
  }),
  fixedSize("medium", "3 questions x 4 candidates of 12 tokens, 160-token state", {
    state: 160,
    question: 12,
    candidate: 12,
    questions: 3,
    candidates: 4,
  }),
  fixedSize("candidates", `${maxCandidates} candidates of 15 tokens, 512-token state`, {
    state: 512,
    question: 10,
    candidate: 15,
    questions: 1,
    candidates: maxCandidates,
  }),
  fixedSize("questions", `${maxQuestions} questions x 4 candidates, 1,000-token state`, {
    state: 1000,
    question: 12,
    candidate: 8,
    questions: maxQuestions,
    candidates: 4,
  }),
  MIXED,
  workload("repeated", "as mixed, with 12 recurring states (Zipf)", (random, seed) => {
    const state = new Random(seed, "repeated state", zipf(random, POPULAR_STATES));
    return mixed(random, textOf(state, state.size(300, 0.6, 64, 1500)));
  }),
  ...LIMITS,
];

/** A random rank r below `count` with weight 1 / (r + 1). */
function zipf(random: Random, count: number): number {
  const weights = Array.from({ length: count }, (_, rank) => 1 / (rank + 1));
  let left = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [rank, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return rank;
  }
  return count - 1;
}

/** One request in five is a ranking, the others have 1 to 8 questions of the three types. */
function mixed(random: Random, state: string): BenchRequest {
  if (random.next() < 0.2) {
    const candidates = distinctTexts(random, random.size(6, 0.8, minCandidates, maxCandidates), () =>
      random.size(14, 0.6, 3, 120),
    );
    return rankRequest(state, textOf(random, random.size(8, 0.5, 2, 40)), candidates);
  }
  const count = random.size(2, 0.7, 1, 8);
  const questions = Array.from({ length: count }, (_, i): [string, QuestionBody] => [
    `q${i}`,
    question(random),
  ]);
  return systemoneRequest(state, Object.fromEntries(questions));
}

function question(random: Random): QuestionBody {
  const instructions = textOf(random, random.size(10, 0.5, 3, 60));
  const count = random.size(4, 0.5, 2, 16);
  const texts = () => distinctTexts(random, count, () => random.size(8, 0.5, 2, 40));
  switch (random.pick(["choice", "noul", "score"] as const)) {
    case "choice":
      return {
        type: "choice",
        instructions,
        criteria: Object.fromEntries(texts().map((text, i) => [`label${i}`, text])),
      };
    case "noul":
      return { type: "noul", instructions };
    case "score":
      return { type: "score", instructions, criteria: texts() };
  }
}
