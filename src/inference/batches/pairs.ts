import type { Node, RequestPlan } from "../nodes.ts";

/** A leaf of a request, with its place there. `leaf.key` identifies the pair's full input. */
export interface Pair {
  readonly leaf: Node;
  readonly questionIndex: number;
  readonly candidateIndex: number;
}

/** The pairs of a request, question by question, candidate by candidate. */
export function listPairs(plan: RequestPlan): readonly Pair[] {
  return plan.flatMap((leaves, questionIndex) =>
    leaves.map((leaf, candidateIndex) => ({ leaf, questionIndex, candidateIndex })),
  );
}
