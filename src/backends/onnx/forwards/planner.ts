import { type Node, nodesAbove } from "../../../inference/nodes.ts";
import {
  type Forward,
  isLongQuestion,
  isLongState,
  newNodes,
  pastNodes,
  prefixOf,
  REST_TOKENS,
  tokenCount,
} from "../../tensors/forward.ts";

/** Minimum new tokens of a forward when work is split so that every thread has one. Chosen: two requests of 45 tokens justify two threads. */
const FEWEST_TOKENS = 32;
/** Minimum tokens below a state to encode the state first and spread the rest over threads. Chosen: another forward costs as much as 25 tokens. */
const WORTH_SHARING = 96;

/** The nodes below a node; without one, the states. */
type Below = (node?: Node) => readonly Node[];

/**
 * Cuts a batch into forwards.
 *
 * @param cached  states whose keys and values are cached
 * @param threads forwards that may run in parallel; does not change scores
 * @returns       ordered so that every forward comes after those it depends on
 */
export function planForwards(
  leaves: readonly Node[],
  cached: Iterable<Node>,
  threads: number,
): readonly Forward[] {
  const nodes = nodesByParent(leaves);
  const below: Below = (node) => nodes.get(node) ?? [];
  const encoded = new Set(cached);
  const packer = new ForwardPacker(encoded);
  const states = below();
  // many states keep every thread busy anyway
  if (threads > 1 && states.length < 2 * threads) packFirst(packer, states, below);
  if (threads > 1) packer.share = shareOf([...nodes.values()].flat(), encoded, threads);
  for (const state of states) {
    if (threads > 1) packTogether(packer, state, below);
    else for (const question of below(state)) packQuestion(packer, question, below);
  }
  packer.close();
  return packer.forwards;
}

/** All nodes of a batch, by parent, in the order of the leaves. */
function nodesByParent(leaves: readonly Node[]): ReadonlyMap<Node | undefined, readonly Node[]> {
  const nodes = new Map<Node | undefined, Node[]>();
  const add = (node: Node) => {
    const siblings = nodes.get(node.parent);
    siblings?.push(node);
    if (siblings !== undefined) return;
    nodes.set(node.parent, [node]);
    if (node.parent !== undefined) add(node.parent); // its first node below
  };
  leaves.forEach(add);
  return nodes;
}

/** A question and its candidates. */
const familyOf = (question: Node, below: Below) => [question, ...below(question)];

/** New tokens per forward that give every thread the same number of forwards. */
function shareOf(nodes: readonly Node[], encoded: ReadonlySet<Node>, threads: number): number {
  const total = tokenCount(nodes.filter((node) => !isLongState(node) && !encoded.has(node)));
  const forwards = threads * Math.ceil(total / (threads * REST_TOKENS));
  return Math.max(FEWEST_TOKENS, Math.ceil(total / forwards));
}

/**
 * Encodes states first, with as many of their questions as fit into one forward, if candidates would otherwise wait for
 * each other.
 */
function packFirst(packer: ForwardPacker, states: readonly Node[], below: Below): void {
  for (const state of states) {
    const families = below(state).map((question) => familyOf(question, below));
    const short = below(state).filter((question) => !isLongQuestion(question));
    if (short.flatMap(below).length < 2 || tokenCount(families.flat()) < WORTH_SHARING) continue;
    const isNeeded = isLongState(state) && !packer.has(state);
    if (!isNeeded && families.every((family) => packer.fits(family))) continue;
    const first: Node[] = [];
    for (const question of short) if (packer.fits([...first, question])) first.push(question);
    if (first.length > 0) packer.add(first);
  }
  packer.close();
}

/** Keeps related nodes together if they fit (all below a short state, a question with its candidates), so that forwards rarely depend on others. */
function packTogether(packer: ForwardPacker, state: Node, below: Below): void {
  const questions = below(state);
  const all = questions.flatMap((question) => familyOf(question, below));
  if (!isLongState(state) && !questions.some(isLongQuestion) && packer.fits(all)) {
    packer.add(all);
    return;
  }
  for (const question of questions) {
    const family = familyOf(question, below);
    if (!isLongQuestion(question) && !packer.has(question) && packer.fits(family)) packer.add(family);
    else packQuestion(packer, question, below);
  }
}

/** Fills forwards. A question goes into the forward of its first candidate. */
function packQuestion(packer: ForwardPacker, question: Node, below: Below): void {
  if (isLongQuestion(question)) packer.addLongQuestion(question);
  for (const candidate of below(question)) packer.add([candidate]);
}

/** Packs groups of nodes into forwards: into the open forward if the group fits, otherwise into a new one. */
class ForwardPacker {
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
    this.#prefix = prefixOf(question);
    this.#rest = [...nodesAbove(question).filter((state) => !isLongState(state)), question];
    this.close();
  }

  /** Whether nodes with the same prefix fit into the rest of one forward, together with the nodes that they need there. */
  fits(nodes: readonly Node[]): boolean {
    return tokenCount(restOf(nodes, sharedPrefix(nodes))) <= REST_TOKENS;
  }

  /** @param nodes nodes with the same prefix, kept together; several nodes must fit into one forward */
  add(nodes: readonly Node[]): void {
    const prefix = sharedPrefix(nodes);
    const added = restOf(nodes, prefix);
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

const sharedPrefix = ([first]: readonly Node[]) => (first === undefined ? [] : prefixOf(first));

/** Nodes, and before them those above that are not in the prefix. */
function restOf(nodes: readonly Node[], prefix: readonly Node[]): readonly Node[] {
  return union(
    nodes.flatMap(nodesAbove).filter((node) => !prefix.includes(node)),
    nodes,
  );
}

const isSame = (nodes: readonly Node[], others: readonly Node[]) =>
  nodes.length === others.length && nodes.every((node, i) => node === others[i]);

const union = (nodes: readonly Node[], added: readonly Node[]) => [...new Set([...nodes, ...added])];

/** Groups forwards into rounds. A forward depends only on forwards of earlier rounds. */
export function roundsOf(forwards: readonly Forward[]): readonly (readonly Forward[])[] {
  const roundOf = new Map<Node, number>();
  const rounds: Forward[][] = [];
  for (const forward of forwards) {
    const round = Math.max(0, ...pastNodes(forward).map((node) => (roundOf.get(node) ?? -1) + 1));
    for (const node of newNodes(forward)) roundOf.set(node, round);
    rounds[round] = [...(rounds[round] ?? []), forward];
  }
  return rounds;
}
