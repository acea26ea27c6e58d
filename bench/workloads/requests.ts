import type { Random } from "../random.ts";
import { WORDS } from "./words.ts";
import type { BenchRequest } from "./workload.ts";

/** A question for a systemone body. */
export type QuestionBody =
  | {
      readonly type: "choice";
      readonly instructions: string;
      readonly criteria: Readonly<Record<string, string | null>>;
    }
  | { readonly type: "noul"; readonly instructions: string }
  | { readonly type: "score"; readonly instructions: string; readonly criteria: readonly string[] };

/**
 * A request with named questions.
 * @param questions labels must not look like integers, because JavaScript would move them to the front
 */
export function systemoneRequest(
  state: unknown,
  questions: Readonly<Record<string, QuestionBody>>,
): BenchRequest {
  const labels = Object.entries(questions).map(([name, question]) => [name, labelsOf(question)] as const);
  return {
    operation: "systemone",
    body: JSON.stringify({ state, questions }),
    expectedStatus: 200,
    mayBeTooLong: true,
    labels: new Map(labels),
  };
}

/** A request to rank a list of texts. */
export function rankRequest(state: unknown, question: string, candidates: readonly string[]): BenchRequest {
  return {
    operation: "rank",
    body: JSON.stringify({ state, question, candidates }),
    expectedStatus: 200,
    mayBeTooLong: true,
    labels: new Map([["", candidates.map((_, i) => String(i))]]),
  };
}

function labelsOf(question: QuestionBody): readonly string[] {
  switch (question.type) {
    case "choice":
      return Object.keys(question.criteria);
    case "noul":
      return ["false", "true"];
    case "score":
      return question.criteria.map((_, level) => String(level));
  }
}

/** A text of `tokens` tokens, without special tokens. One word is one token. */
export function textOf(random: Random, tokens: number): string {
  return Array.from({ length: tokens }, () => random.pick(WORDS)).join(" ");
}

/** `count` texts of `tokens` tokens that all differ. */
export function distinctTexts(random: Random, count: number, tokens: number | (() => number)): string[] {
  const texts = new Set<string>();
  // one-word texts may repeat: there are a few hundred words and dozens of candidates
  while (texts.size < count) texts.add(textOf(random, typeof tokens === "number" ? tokens : tokens()));
  return [...texts];
}
