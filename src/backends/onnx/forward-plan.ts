import type { TokenTree } from "../../inference/ports.ts";
import { SHORTEST_KEPT_STATE } from "./kept-states.ts";

/**
 * Cuts a forest into forwards: runs of a graph over token trees (see the drawing in src/onnx/bert-token-tree.ts).
 *
 * A node is encoded in one forward; later forwards that need it are given its keys and values. A state is a node
 * of the whole forest: trees with the same state share it.
 *
 * A pair's score must not depend on what else is in a forward. A matrix product sums along the keys in order, but in
 * blocks of 256 (`KEY_BLOCK`, MLAS' stride for the encoder's widths; 128 for the causal graph's), so a sum is the same wherever its keys stand as long
 * as they stand in one block, or always begin at the first. Hence, for each of the two blocks of keys:
 *
 *   - prefix: nothing, or a state, or a state and its long question: every new node is one of them or below them;
 *   - rest: one chain of nodes of any length, or any number of nodes that stand in one block: 128 (`REST_TOKENS`), and not
 *     256, because each query meets all of them and sees few. Without a prefix a forward has less work beside that, so an encoder's rest
 *     may then be longer (`LONE_REST_TOKENS`).
 *
 * Where a node goes depends on lengths of its own path only, so the way of a pair through all this is a matter of its own
 * lengths, and its bits are too. A state stands in the prefix; a short one (fewer than 64 tokens) in the rest, so that small requests share
 * a forward. A question stands in the rest; one of more than 128 tokens is encoded alone there and then stands
 * behind its state in the prefix of its candidates, so that there is room for these.
 */
export const KEY_BLOCK = 256;
export const REST_TOKENS = 128;
/** A block with the filler token. Measured on 32 requests of 45 tokens: 1.12 times as fast as with 128, 192 in between. */
export const LONE_REST_TOKENS = KEY_BLOCK - 1;
export const LONG_QUESTION = 128;
/** Tokens of the shortest state that stands in a prefix. */
export const LONG_STATE = SHORTEST_KEPT_STATE;

export type Level = 0 | 1 | 2; // state, question, candidate: also the segment embedding

export interface Node {
  readonly level: Level;
  readonly tokens: Int32Array;
  /** The nodes above it: none, its state, or its state and its question. */
  readonly above: readonly Node[];
}

export interface Forward {
  /** Encoded earlier, in the order of their keys. */
  readonly pastPrefix: readonly Node[];
  readonly pastRest: readonly Node[];
  /** Encoded now, in the order of their keys. */
  readonly newPrefix: readonly Node[];
  readonly newRest: readonly Node[];
}

export interface ForwardPlan {
  /** By `stateKey`. */
  readonly states: ReadonlyMap<string, Node>;
  readonly forwards: readonly Forward[];
  /** [pairs] the candidate node of each pair of the forest, in its order */
  readonly pairs: readonly Node[];
}

/**
 * @param stateKey names a state by its tokens, so that equal ones are one node
 * @param isKnown  whether the keys and values of a state are at hand
 * @param loneRest most tokens of a rest of several nodes in a forward without prefix
 */
export function planForwards(
  forest: readonly TokenTree[],
  stateKey: (tokens: Int32Array) => string,
  isKnown: (key: string) => boolean,
  loneRest = REST_TOKENS,
): ForwardPlan {
  const states = new Map<string, Node>();
  const encoded = new Set<Node>();
  const packer = new Packer(encoded, loneRest);
  const pairs: Node[] = [];
  for (const tree of forest) {
    const key = stateKey(tree.state);
    const state = states.get(key) ?? { level: 0, tokens: tree.state, above: [] };
    states.set(key, state);
    if (isKnown(key)) encoded.add(state);
    for (const { tokens, candidates } of tree.questions) {
      const question: Node = { level: 1, tokens, above: [state] };
      if (isLong(question)) packer.addLongQuestion(question);
      for (const candidate of candidates) {
        const node: Node = { level: 2, tokens: candidate, above: [state, question] };
        packer.addCandidate(node, question);
        pairs.push(node);
      }
    }
  }
  packer.close();
  return { states, forwards: packer.forwards, pairs };
}

const isLong = (question: Node) => question.tokens.length > LONG_QUESTION;
const isPrefix = (node: Node) => (node.level === 0 ? node.tokens.length >= LONG_STATE : isLong(node));
const length = (nodes: readonly Node[]) => nodes.reduce((sum, node) => sum + node.tokens.length, 0);

/** Puts each node into the open forward while it fits, else into a new one. */
class Packer {
  readonly forwards: Forward[] = [];
  readonly #encoded: Set<Node>;
  readonly #loneRest: number;
  #prefix: readonly Node[] = [];
  #rest: Node[] = [];

  constructor(encoded: Set<Node>, loneRest: number) {
    this.#encoded = encoded;
    this.#loneRest = loneRest;
  }

  /** Encodes a long question; nothing but its state may stand in its rest. */
  addLongQuestion(question: Node): void {
    this.close();
    this.#prefix = question.above.filter(isPrefix);
    this.#rest = [...question.above.filter((state) => !isPrefix(state)), question];
    this.close();
  }

  addCandidate(candidate: Node, question: Node): void {
    const prefix = isLong(question) ? candidate.above : question.above.filter(isPrefix);
    const rest = [...candidate.above.filter((node) => !prefix.includes(node)), candidate];
    const isFirst = this.#rest.length === 0;
    if (!isFirst && !(isSame(this.#prefix, prefix) && this.#restFits(rest))) this.close();
    this.#prefix = prefix;
    this.#rest = union(this.#rest, rest);
  }

  #restFits(added: readonly Node[]): boolean {
    const most = this.#prefix.length > 0 ? REST_TOKENS : this.#loneRest;
    return length(union(this.#rest, added)) <= most;
  }

  close(): void {
    if (this.#rest.length === 0) return;
    // states and questions first: those encoded earlier must stand before all new nodes, and order does not touch the bits
    const rest = [...this.#rest].sort((a, b) => a.level - b.level);
    this.forwards.push({
      pastPrefix: this.#prefix.filter((node) => this.#encoded.has(node)),
      newPrefix: this.#prefix.filter((node) => !this.#encoded.has(node)),
      pastRest: rest.filter((node) => this.#encoded.has(node)),
      newRest: rest.filter((node) => !this.#encoded.has(node)),
    });
    for (const node of [...this.#prefix, ...this.#rest]) this.#encoded.add(node);
    this.#prefix = [];
    this.#rest = [];
  }
}

const isSame = (nodes: readonly Node[], others: readonly Node[]) =>
  nodes.length === others.length && nodes.every((node, i) => node === others[i]);

function union(nodes: readonly Node[], added: readonly Node[]): Node[] {
  return [...nodes, ...added.filter((node) => !nodes.includes(node))];
}
