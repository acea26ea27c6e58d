import {
  type Forward,
  isLongQuestion,
  isLongState,
  type Node,
  REST_TOKENS,
  tokenCount,
} from "../../tensors/forward.ts";

/** Packs groups of nodes into forwards: into the open forward if the group fits, otherwise into a new one. */
export class ForwardPacker {
  readonly forwards: Forward[] = [];
  readonly #encoded: Set<Node>;
  /** Target number of new tokens in a rest. Beyond it, the next group starts a new forward. */
  share = Number.POSITIVE_INFINITY;
  #prefix: readonly Node[] = [];
  #rest: Node[] = [];

  /** @param encoded nodes whose keys and values are available; packed nodes are added */
  constructor(encoded: Set<Node>) {
    this.#encoded = encoded;
  }

  has(node: Node): boolean {
    return this.#encoded.has(node);
  }

  /** Encodes a long question. Its rest holds nothing but its state. */
  addLongQuestion(question: Node): void {
    this.close();
    this.#prefix = question.above.filter(isLongState);
    this.#rest = [...question.above.filter((state) => !isLongState(state)), question];
    this.close();
  }

  /** Whether nodes with the same prefix fit into the rest of one forward, together with the nodes that they need there. */
  fits(nodes: readonly Node[]): boolean {
    const prefix = prefixOf(nodes);
    return tokenCount(withAbove(nodes, prefix)) <= REST_TOKENS;
  }

  /** @param nodes nodes with the same prefix, kept together; several nodes must fit into one forward */
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
    // states and questions first: nodes encoded earlier must precede all new nodes, and order does not change bits
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

/** The prefix of a node: its long state, and its long question below any state. */
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
