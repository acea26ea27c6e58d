import { type Node, nodesAbove } from "../../inference/nodes.ts";

/**
 * A forward is one run of a graph over token trees (see the drawing in src/onnx/encoder/bert-token-tree.ts). A node is encoded in one
 * forward. Other forwards that need the node get its keys and values as inputs.
 *
 * A pair's score must not depend on what else is in a forward. A matrix product sums along the keys in order, but in
 * blocks of 256 (`KEY_BLOCK`, MLAS' stride for the encoder's widths; 128 for the causal graph's). So a sum is the same at
 * any position if its keys are within one block, or always start at the first key. Hence, for the two blocks of keys:
 *
 *   - prefix: nothing, or a state, or a state and its long question. Every new node is one of them or below them.
 *   - rest: one chain of nodes of any length, or any number of nodes within one block of 128 keys (`REST_TOKENS`). A block
 *     of 256 would be slower, because each query computes all keys and uses few (measured on 32 requests of 45 tokens:
 *     128 takes 0.87 of the time of 256).
 *
 * The place of a node depends only on the lengths of its own path, so its bits do too:
 *
 *   - A state is in the prefix. A state of fewer than 64 tokens is in the rest, so that small requests share a forward.
 *   - A question is in the rest. A question of more than 128 tokens is encoded alone there, and is in the prefix of its
 *     candidates, below its state.
 *
 * The other nodes of a forward do not change bits, nor does the separate path through the graph for small forwards.
 */
export interface Forward {
  /** Encoded in other forwards, in the order of their keys. */
  readonly pastPrefix: readonly Node[];
  readonly pastRest: readonly Node[];
  /** Encoded now, in the order of their keys. */
  readonly newPrefix: readonly Node[];
  readonly newRest: readonly Node[];
}

/** A forward, and its new nodes whose keys and values are needed later. */
export interface ForwardTask {
  readonly forward: Forward;
  readonly wanted: readonly Node[];
}

export const KEY_BLOCK = 256;
export const REST_TOKENS = KEY_BLOCK / 2;
export const LONG_QUESTION = 128;
/**
 * Minimum tokens of a state that is in a prefix and is cached. Chosen: encoding a shorter state costs little, and caching it would need
 * copies of a forward's results.
 */
export const LONG_STATE = 64;

export const isLongQuestion = ({ level, tokens }: Node) => level === 1 && tokens.length > LONG_QUESTION;
export const isLongState = ({ level, tokens }: Node) => level === 0 && tokens.length >= LONG_STATE;

/** The prefix of a candidate or question: its long state, and its long question below any state. */
export function prefixOf(node: Node): readonly Node[] {
  const above = nodesAbove(node);
  return above.some(isLongQuestion) ? above : above.filter(isLongState);
}

export const tokenCount = (nodes: readonly Node[]) =>
  nodes.reduce((sum, { tokens }) => sum + tokens.length, 0);

/** New nodes that a forward scores, in this order. */
export const scoredNodes = ({ newRest }: Forward) => newRest.filter(({ level }) => level === 2);

/** Tokens that a forward encodes. */
export const newTokens = ({ newPrefix, newRest }: Forward) => tokenCount(newPrefix) + tokenCount(newRest);

export const pastNodes = ({ pastPrefix, pastRest }: Forward) => [...pastPrefix, ...pastRest];
export const newNodes = ({ newPrefix, newRest }: Forward) => [...newPrefix, ...newRest];

/** Number of keys of its attention products. */
export const keyCount = (forward: Forward) =>
  newTokens(forward) + tokenCount(forward.pastPrefix) + tokenCount(forward.pastRest);
