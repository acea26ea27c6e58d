import assert from "node:assert/strict";
import type { Forward } from "../../src/backends/tensors/forward.ts";
import { pathOf } from "../../src/inference/nodes.ts";
import { planOf, type TokenTree } from "../support/trees.ts";

import type { Score } from "./same-bits.ts";

/** Runs a graph once. @returns the scores, possibly followed by meaningless ones */
export type RunForward = (forward: Forward) => Promise<unknown>;

/** Scores a forest in one forward if its nodes have at most `maxTokens`, otherwise pair by pair. */
export function inOneForward(run: RunForward, maxTokens: number): Score {
  const score = async (forest: readonly TokenTree[]) => {
    const forward = oneForward(forest);
    const scores = await run(forward);
    assert.ok(scores instanceof Float32Array);
    return scores.slice(0, forward.newRest.filter(({ level }) => level === 2).length);
  };
  return async (forest) => {
    const { newRest } = oneForward(forest);
    if (newRest.reduce((sum, { tokens }) => sum + tokens.length, 0) <= maxTokens) return score(forest);
    const scores: number[] = [];
    for (const pair of forest.flatMap(pairsOf)) scores.push(...(await score([pair])));
    return Float32Array.from(scores);
  };
}

function pairsOf({ state, questions }: TokenTree): TokenTree[] {
  return questions.flatMap(({ tokens, candidates }) =>
    candidates.map((candidate) => ({ state, questions: [{ tokens, candidates: [candidate] }] })),
  );
}

function oneForward(forest: readonly TokenTree[]): Forward {
  const newRest = forest.flatMap((tree) => planOf(tree).flat()).flatMap(pathOf);
  return { pastPrefix: [], pastRest: [], newPrefix: [], newRest: [...new Set(newRest)] };
}
