import { createHash, type Hash } from "node:crypto";
import type { TokenTree } from "./ports.ts";

/** A node of a token tree and the SHA-256 of its path: its own tokens and all tokens above it. */
export interface KeyedNode {
  readonly tokens: Int32Array; // [tokens]
  /** Base64. Equal keys: the model reads the same input. */
  readonly key: string;
}

/** One (state, question, candidate) combination; `candidate.key` stands for the pair's full input. */
export interface Pair {
  readonly state: KeyedNode;
  readonly question: KeyedNode;
  readonly candidate: KeyedNode;
  readonly questionIndex: number;
  readonly candidateIndex: number;
}

/** The pairs of a tree, question by question, candidate by candidate. */
export function listPairs(tree: TokenTree): readonly Pair[] {
  const state = keyNode(tree.state, createHash("sha256"));
  return tree.questions.flatMap((questionNode, questionIndex) => {
    const question = keyNode(questionNode.tokens, state.hash.copy());
    return questionNode.candidates.map((tokens, candidateIndex) => {
      const candidate = keyNode(tokens, question.hash.copy());
      return {
        state: state.node,
        question: question.node,
        candidate: candidate.node,
        questionIndex,
        candidateIndex,
      };
    });
  });
}

/** Tokens of the pair as if nothing were shared. */
export function jointLength(pair: Pair): number {
  return pair.state.tokens.length + pair.question.tokens.length + pair.candidate.tokens.length;
}

/** Adds one node to the hash of its path: its length first, so that no two paths give the same bytes. */
function keyNode(tokens: Int32Array, hash: Hash): { node: KeyedNode; hash: Hash } {
  hash.update(Int32Array.of(tokens.length)).update(tokens);
  return { node: { tokens, key: hash.copy().digest("base64url") }, hash };
}
