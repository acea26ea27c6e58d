import { createHash, type Hash } from "node:crypto";
import type { RequestPlan } from "../ports.ts";

/** A node of a token tree, with a key for its path: all tokens above it and its own. */
export interface KeyedNode {
  readonly tokens: Int32Array; // [tokens]
  /** SHA-256 of the path, base64. Nodes with equal keys are the same input to the model. */
  readonly key: string;
}

/** One (state, question, candidate) combination. `candidate.key` identifies the pair's full input. */
export interface Pair {
  readonly state: KeyedNode;
  readonly question: KeyedNode;
  readonly candidate: KeyedNode;
  readonly questionIndex: number;
  readonly candidateIndex: number;
}

/** The pairs of a request, question by question, candidate by candidate. A shared node is hashed once. */
export function listPairs(plan: RequestPlan): readonly Pair[] {
  const states = new HashedNodes();
  return plan.flatMap((paths, questionIndex) =>
    paths.map((path, candidateIndex) => {
      const state = states.add(path.state, createHash("sha256"));
      const question = state.below.add(path.question, state.hash);
      return {
        state: state.node,
        question: question.node,
        candidate: keyNode(path.candidate, question.hash.copy()).node,
        questionIndex,
        candidateIndex,
      };
    }),
  );
}

interface HashedNode {
  readonly node: KeyedNode;
  /** Hash of the path down to this node. */
  readonly hash: Hash;
  readonly below: HashedNodes;
}

/** The hashed nodes under one parent, by the identity of their arrays. Different arrays with equal content are hashed separately and get the same key. */
class HashedNodes {
  readonly #nodes = new Map<Int32Array, HashedNode>();

  add(tokens: Int32Array, above: Hash): HashedNode {
    const known = this.#nodes.get(tokens);
    if (known !== undefined) return known;
    const node = { ...keyNode(tokens, above.copy()), below: new HashedNodes() };
    this.#nodes.set(tokens, node);
    return node;
  }
}

/** Tokens of the pair when nothing is shared. */
export function jointLength(pair: Pair): number {
  return pair.state.tokens.length + pair.question.tokens.length + pair.candidate.tokens.length;
}

/** Adds a node to the hash of its path. Its length comes first, so that different paths never hash the same bytes. */
function keyNode(tokens: Int32Array, hash: Hash): { node: KeyedNode; hash: Hash } {
  hash.update(Int32Array.of(tokens.length)).update(tokens);
  return { node: { tokens, key: hash.copy().digest("base64url") }, hash };
}
