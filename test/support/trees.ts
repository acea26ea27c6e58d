import { getOrSet } from "../../src/inference/collections.ts";
import { type Node, nodeBelow, type RequestPlan, stateOf } from "../../src/inference/nodes.ts";

/** Pairs that share a state, written as tests like to. */
export interface TokenTree {
  readonly state: Int32Array;
  readonly questions: readonly { readonly tokens: Int32Array; readonly candidates: readonly Int32Array[] }[];
}

/** The leaves of trees, tree by tree. Equal states are one node, as in a batch. */
export function leavesOfTrees(trees: readonly TokenTree[]): readonly Node[] {
  const states = new Map<string, Node>();
  return trees.flatMap((tree) => {
    const node = nodeBelow(undefined, tree.state);
    return leavesBelow(
      getOrSet(states, node.key, () => node),
      tree,
    ).flat();
  });
}

/** A request whose pairs are those of a tree. */
export function planOf(tree: TokenTree): RequestPlan {
  return leavesBelow(nodeBelow(undefined, tree.state), tree);
}

function leavesBelow(state: Node, { questions }: TokenTree): RequestPlan {
  return questions.map(({ tokens, candidates }) => {
    const question = nodeBelow(state, tokens);
    return candidates.map((candidate) => nodeBelow(question, candidate));
  });
}

/** Leaves as trees: one per state, and a question per node. */
export function treesOf(leaves: readonly Node[]): readonly TokenTree[] {
  const states = new Map<Node, Map<Node, Int32Array[]>>();
  for (const leaf of leaves) {
    const questions = getOrSet(states, stateOf(leaf), () => new Map<Node, Int32Array[]>());
    getOrSet(questions, leaf.parent ?? leaf, () => []).push(leaf.tokens);
  }
  return [...states].map(([state, questions]) => ({
    state: state.tokens,
    questions: [...questions].map(([{ tokens }, candidates]) => ({ tokens, candidates })),
  }));
}

/** The tree of a request whose pairs all have one state, as with a model that reads texts apart. */
export function treeOf(plan: RequestPlan): TokenTree {
  return treesOf(plan.flat())[0] ?? { state: new Int32Array(0), questions: [] };
}
