import type { RequestPlan, TokenTree } from "../../src/inference/ports.ts";

/** A request's pairs as trees: one per state of its pairs. */
export function forestOf(plan: RequestPlan): readonly TokenTree[] {
  const trees = new Map<Int32Array, Map<Int32Array, Int32Array[]>>();
  for (const { state, question, candidate } of plan.flat()) {
    const questions = trees.get(state) ?? new Map<Int32Array, Int32Array[]>();
    trees.set(state, questions.set(question, [...(questions.get(question) ?? []), candidate]));
  }
  return [...trees].map(([state, questions]) => ({
    state,
    questions: [...questions].map(([tokens, candidates]) => ({ tokens, candidates })),
  }));
}
