import type { RequestPlan } from "../ports.ts";
import { sha256 } from "../sha256.ts";

/** A node of a token tree, with a key for its path: all tokens above it and its own. */
export interface KeyedNode {
  readonly tokens: Int32Array; // [tokens]
  /** SHA-256 of the parent's key and of the tokens, base64url. Nodes with equal keys are the same input to the model. */
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
  const states = new NodesBelow("");
  return plan.flatMap((paths, questionIndex) =>
    paths.map((path, candidateIndex) => {
      const state = states.add(path.state);
      const question = state.below.add(path.question);
      return {
        state: state.node,
        question: question.node,
        candidate: keyedNode(path.candidate, question.node.key),
        questionIndex,
        candidateIndex,
      };
    }),
  );
}

/** The nodes under one parent, by the identity of their arrays. Different arrays with equal content are hashed separately and get the same key. */
class NodesBelow {
  readonly #above: string;
  readonly #nodes = new Map<Int32Array, { readonly node: KeyedNode; readonly below: NodesBelow }>();

  /** @param above key of the parent; "" for states */
  constructor(above: string) {
    this.#above = above;
  }

  add(tokens: Int32Array) {
    const known = this.#nodes.get(tokens);
    if (known !== undefined) return known;
    const node = keyedNode(tokens, this.#above);
    const added = { node, below: new NodesBelow(node.key) };
    this.#nodes.set(tokens, added);
    return added;
  }
}

/** Tokens of the pair when nothing is shared. */
export function jointLength(pair: Pair): number {
  return pair.state.tokens.length + pair.question.tokens.length + pair.candidate.tokens.length;
}

/** @param above key of the parent. All have 43 bytes, and a state has none, so different paths never hash the same bytes. */
function keyedNode(tokens: Int32Array, above: string): KeyedNode {
  const path = Buffer.allocUnsafe(above.length + tokens.byteLength);
  path.write(above, "latin1");
  path.set(new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength), above.length);
  return { tokens, key: sha256(path) };
}
