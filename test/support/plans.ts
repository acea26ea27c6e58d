import type { RequestPlan, TokenTree } from "../../src/inference/ports.ts";

/** A request whose pairs are those of a tree. */
export function planOf({ state, questions }: TokenTree): RequestPlan {
  return questions.map(({ tokens, candidates }) =>
    candidates.map((candidate) => ({ state, question: tokens, candidate })),
  );
}

/** The tree of a request whose pairs all have one state, as with a model that reads texts apart. */
export function treeOf(plan: RequestPlan): TokenTree {
  return {
    state: plan[0]?.[0]?.state ?? new Int32Array(0),
    questions: plan.map((paths) => ({
      tokens: paths[0]?.question ?? new Int32Array(0),
      candidates: paths.map(({ candidate }) => candidate),
    })),
  };
}
