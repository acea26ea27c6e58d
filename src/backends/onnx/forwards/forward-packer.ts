import {
  type Forward,
  isLongQuestion,
  isLongState,
  type Node,
  REST_TOKENS,
  tokenCount,
} from "../tensors/forward.ts";

/** Puts groups of nodes into forwards: each into the open one while it fits, else into a new one. */
export class ForwardPacker {
  readonly forwards: Forward[] = [];
  readonly #encoded: Set<Node>;
  /** New tokens of a rest that is as large as is wished: then the next group gets a new forward. */
  share = Number.POSITIVE_INFINITY;
  #prefix: readonly Node[] = [];
  #rest: Node[] = [];

  /** @param encoded whose keys and values are at hand; what is packed is put in */
  constructor(encoded: Set<Node>) {
    this.#encoded = encoded;
  }

  has(node: Node): boolean {
    return this.#encoded.has(node);
  }

  /** Encodes a long question; nothing but its state may stand in its rest. */
  addLongQuestion(question: Node): void {
    this.close();
    this.#prefix = question.above.filter(isLongState);
    this.#rest = [...question.above.filter((state) => !isLongState(state)), question];
    this.close();
  }

  /** Whether nodes with the same prefix fit into the rest of one forward, with those that they need there. */
  fits(nodes: readonly Node[]): boolean {
    const prefix = prefixOf(nodes);
    return tokenCount(withAbove(nodes, prefix)) <= REST_TOKENS;
  }

  /** @param nodes with the same prefix, which stay together; if several, such that they fit */
  add(nodes: readonly Node[]): void {
    const prefix = prefixOf(nodes);
    const added = withAbove(nodes, prefix);
    const isFull = tokenCount(this.#rest.filter((node) => !this.#encoded.has(node))) >= this.share;
    if (isFull || !isSame(this.#prefix, prefix) || tokenCount(union(this.#rest, added)) > REST_TOKENS)
      this.close();
    this.#prefix = prefix;
    this.#rest = union(this.#rest, added);
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

/** What stands before the rest that nodes are in: their long state, and their long question behind any state. */
function prefixOf([first]: readonly Node[]): readonly Node[] {
  const above = first?.above ?? [];
  return above.some(isLongQuestion) ? above : above.filter(isLongState);
}

function withAbove(nodes: readonly Node[], prefix: readonly Node[]): readonly Node[] {
  const above = nodes.flatMap((node) => node.above).filter((node) => !prefix.includes(node));
  return union(union([], above), nodes);
}

const isSame = (nodes: readonly Node[], others: readonly Node[]) =>
  nodes.length === others.length && nodes.every((node, i) => node === others[i]);

function union(nodes: readonly Node[], added: readonly Node[]): Node[] {
  return [...new Set([...nodes, ...added])];
}
