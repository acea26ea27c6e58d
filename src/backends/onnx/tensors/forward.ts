import { SHORTEST_KEPT_STATE } from "./kept-states.ts";

/**
 * A forward is one run of a graph over token trees (see the drawing in src/onnx/encoder/bert-token-tree.ts). A node is encoded in one
 * forward; others that need it are given its keys and values.
 *
 * A pair's score must not depend on what else is in a forward. A matrix product sums along the keys in order, but in
 * blocks of 256 (`KEY_BLOCK`, MLAS' stride for the encoder's widths; 128 for the causal graph's), so a sum is the same wherever its keys stand as long
 * as they stand in one block, or always begin at the first. Hence, for each of the two blocks of keys:
 *
 *   - prefix: nothing, or a state, or a state and its long question: every new node is one of them or below them;
 *   - rest: one chain of nodes of any length, or any number of nodes that stand in one block: 128 (`REST_TOKENS`), and not
 *     256, because each query meets all of them and sees few. Measured on 32 requests of 45 tokens: 0.87 of the time.
 *
 * Where a node goes depends on lengths of its own path only, so the way of a pair through all this is a matter of its own
 * lengths, and its bits are too. A state stands in the prefix; a short one (fewer than 64 tokens) in the rest, so that small requests share
 * a forward. A question stands in the rest; one of more than 128 tokens is encoded alone there and then stands
 * behind its state in the prefix of its candidates, so that there is room for these. In which of the forwards of its kind a node
 * is, and beside what, does not touch the bits; nor does it whether a forward is small enough for a way of its own through the graph.
 */
export interface Forward {
  /** Encoded in other forwards, in the order of their keys. */
  readonly pastPrefix: readonly Node[];
  readonly pastRest: readonly Node[];
  /** Encoded now, in the order of their keys. */
  readonly newPrefix: readonly Node[];
  readonly newRest: readonly Node[];
}

/** A forward, and the new nodes whose keys and values others need. */
export interface ForwardTask {
  readonly forward: Forward;
  readonly wanted: readonly Node[];
}

export type Level = 0 | 1 | 2; // state, question, candidate: also the segment embedding

export interface Node {
  readonly level: Level;
  readonly tokens: Int32Array;
  /** The nodes above it: none, its state, or its state and its question. */
  readonly above: readonly Node[];
}

export const KEY_BLOCK = 256;
export const REST_TOKENS = KEY_BLOCK / 2;
export const LONG_QUESTION = 128;
/** Tokens of the shortest state that stands in a prefix, and is worth keeping. */
export const LONG_STATE = SHORTEST_KEPT_STATE;

export const isLongQuestion = ({ level, tokens }: Node) => level === 1 && tokens.length > LONG_QUESTION;
export const isLongState = ({ level, tokens }: Node) => level === 0 && tokens.length >= LONG_STATE;

export const tokenCount = (nodes: readonly Node[]) =>
  nodes.reduce((sum, { tokens }) => sum + tokens.length, 0);

/** New nodes whose scores a forward gives, in that order. */
export const scoredNodes = ({ newRest }: Forward) => newRest.filter(({ level }) => level === 2);

/** Tokens that a forward encodes. */
export const newTokens = ({ newPrefix, newRest }: Forward) => tokenCount(newPrefix) + tokenCount(newRest);

export const pastNodes = ({ pastPrefix, pastRest }: Forward) => [...pastPrefix, ...pastRest];
export const newNodes = ({ newPrefix, newRest }: Forward) => [...newPrefix, ...newRest];

/** Keys that its queries meet. */
export const keyCount = (forward: Forward) =>
  newTokens(forward) + tokenCount(forward.pastPrefix) + tokenCount(forward.pastRest);
