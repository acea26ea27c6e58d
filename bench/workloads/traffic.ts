import { REQUEST_LIMITS } from "../../src/decisions/request.ts";
import { Random } from "../random.ts";
import { type QuestionBody, rankRequest, systemoneRequest } from "./bodies.ts";
import { distinctTexts, textOf } from "./texts.ts";
import type { BenchRequest, Workload } from "./workload.ts";

/** Mixed sizes, as with many callers: most requests small, a few very large. Sizes are not measured traffic. */
export const MIXED: Workload = {
  name: "mixed",
  title: "mixed types and sizes, log-normal: states of 90 tokens (median) to 1,500 (maximum)",
  isWarm: false,
  request(seed, index) {
    const random = new Random(seed, "mixed", index);
    return mixed(random, textOf(random, random.size(90, 0.9, 8, 1500)));
  },
};

/** Recurring states, popular ones more often. */
const POPULAR_STATES = 12;

export const REPEATED: Workload = {
  name: "repeated",
  title: "as mixed, with 12 recurring states (Zipf)",
  isWarm: true,
  request(seed, index) {
    const random = new Random(seed, "repeated", index);
    const state = new Random(seed, "repeated state", zipf(random, POPULAR_STATES));
    return mixed(random, textOf(state, state.size(300, 0.6, 64, 1500)));
  },
};

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
    const { minCandidates, maxCandidates } = REQUEST_LIMITS;
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
