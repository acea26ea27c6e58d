import assert from "node:assert/strict";
import type { Forward, Node } from "../../src/backends/tensors/forward.ts";
import type { TokenTree } from "../../src/inference/ports.ts";
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
  const newRest: Node[] = [];
  for (const tree of forest) {
    const state: Node = { level: 0, tokens: tree.state, above: [] };
    newRest.push(state);
    for (const { tokens, candidates } of tree.questions) {
      const question: Node = { level: 1, tokens, above: [state] };
      newRest.push(question);
      for (const candidate of candidates) {
        newRest.push({ level: 2, tokens: candidate, above: [state, question] });
      }
    }
  }
  return { pastPrefix: [], pastRest: [], newPrefix: [], newRest };
}
