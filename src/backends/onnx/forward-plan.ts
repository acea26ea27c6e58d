import type { TokenTree } from "../../inference/ports.ts";

/**
 * Cuts a forest into forwards: runs of the graph in src/onnx/bert-token-tree.ts (see the drawing there).
 *
 * A node is encoded in one forward; later forwards that need it are given its keys and values. A state is a node
 * of the whole forest: trees with the same state share it.
 *
 * A pair's score must not depend on what else is in a forward. A matrix product sums along the keys in order, but in
 * blocks of 256 (`KEY_BLOCK`, MLAS' stride for these widths), so a sum is the same wherever its keys stand as long
 * as they stand in one block, or always begin at the first. Hence, for each of the two blocks of keys:
 *
 *   - prefix: one chain of nodes of any length, or several states of at most 256 tokens together;
 *   - rest: one question with one candidate of any length, or any number of nodes of at most 256 tokens together; they
 *     get 128 (`REST_TOKENS`), because each query meets all of them and sees few. Measured on 64 candidates of 15
 *     tokens and on 32 short requests: 256 cost 14 % and 45 % more processor time, 64 cost 8 % more and 20 % less.
 *
 * Which of the two a question goes to depends on its own length only: one of more than 128 tokens is encoded alone
 * in the rest and then stands behind its state in the prefix of its candidates, so that there is room for
 * these. So the way of a pair through all this is a matter of its own lengths, and its bits are too.
 */
export const KEY_BLOCK = 256;
export const REST_TOKENS = 128;
export const LONG_QUESTION = 128;

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
 * @param keyBlock after how many keys this model's sums are cut, at least `REST_TOKENS`
 */
export function planForwards(
  forest: readonly TokenTree[],
  stateKey: (tokens: Int32Array) => string,
  isKnown: (key: string) => boolean,
  keyBlock = KEY_BLOCK,
): ForwardPlan {
  const states = new Map<string, Node>();
  const encoded = new Set<Node>();
  const packer = new Packer(encoded, keyBlock);
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
const length = (nodes: readonly Node[]) => nodes.reduce((sum, node) => sum + node.tokens.length, 0);

/** Puts each node into the open forward while it fits, else into a new one. */
class Packer {
  readonly forwards: Forward[] = [];
  readonly #encoded: Set<Node>;
  readonly #keyBlock: number;
  #prefix: Node[] = [];
  #rest: Node[] = [];

  constructor(encoded: Set<Node>, keyBlock: number) {
    this.#encoded = encoded;
    this.#keyBlock = keyBlock;
  }

  /** Encodes a long question; nothing else may stand in its rest. */
  addLongQuestion(question: Node): void {
    this.close();
    this.#prefix = [...question.above];
    this.#rest = [question];
    this.close();
  }

  addCandidate(candidate: Node, question: Node): void {
    const prefix = isLong(question) ? candidate.above : question.above;
    const rest = isLong(question) ? [candidate] : [question, candidate];
    const isFirst = this.#rest.length === 0;
    if (!isFirst && !(this.#prefixFits(prefix) && this.#restFits(rest))) this.close();
    this.#prefix = union(this.#prefix, prefix);
    this.#rest = union(this.#rest, rest);
  }

  /** Several states of a block together, or exactly the chain that is there. */
  #prefixFits(added: readonly Node[]): boolean {
    const together = union(this.#prefix, added);
    if (together.length === this.#prefix.length && added.length === this.#prefix.length) return true;
    return together.every((node) => node.level === 0) && length(together) <= this.#keyBlock;
  }

  #restFits(added: readonly Node[]): boolean {
    return length(union(this.#rest, added)) <= REST_TOKENS;
  }

  close(): void {
    if (this.#rest.length === 0) return;
    // questions first: those encoded earlier must stand before all new nodes, and order does not touch the bits
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

function union(nodes: readonly Node[], added: readonly Node[]): Node[] {
  return [...nodes, ...added.filter((node) => !nodes.includes(node))];
}
