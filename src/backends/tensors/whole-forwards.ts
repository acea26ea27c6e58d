import { getOrSet } from "../../inference/collections.ts";
import { type Node, nodeBelow, nodesAbove } from "../../inference/nodes.ts";
import { type Forward, prefixOf, REST_TOKENS, tokenCount } from "./forward.ts";

/**
 * Tokens that a forward may have below its state. Below a longer state it may have as many as the state, because each forward
 * computes its state again. Chosen.
 */
const MOST_TOKENS = 4 * REST_TOKENS;

/** The prefix of forwards (a state, or a state and a long question), and the blocks below it. */
interface Stem {
  readonly nodes: readonly Node[];
  readonly blocks: Block[];
}

/** Nodes of at most `REST_TOKENS` tokens together, or one longer chain. */
interface Block {
  /** The block's copies of the nodes above its candidates. */
  readonly copies: Map<Node, Node>;
  readonly nodes: Node[];
}

/**
 * Splits a batch into independent forwards: each contains every node above its candidates. Scores are bit-identical to those of
 * planner.ts, because the keys of a node are at the same position there, or within one block of `REST_TOKENS`.
 *
 * @param inFlight number of parallel forwards; blocks without a prefix are distributed over them
 * @returns        the forwards, and the node in them of each leaf
 */
export function planWhole(
  leaves: readonly Node[],
  inFlight: number,
): { readonly forwards: readonly Forward[]; readonly scored: readonly Node[] } {
  const stems = new Map<Node | undefined, Stem>(); // by the last node of the prefix
  const scored = leaves.map((leaf) => {
    const prefix = prefixOf(leaf);
    const stem = getOrSet(stems, prefix.at(-1), () => ({ nodes: prefix, blocks: [] }));
    return place(stem, leaf);
  });
  return { forwards: [...stems.values()].flatMap((stem) => forwardsOf(stem, inFlight)), scored };
}

/**
 * Adds a candidate and the nodes above it to the last block, or to a new block if they do not fit. Each block has its own
 * copies of the nodes above, because a node's queries see all keys of the same node.
 */
function place({ nodes: prefix, blocks }: Stem, leaf: Node): Node {
  const needed = nodesAbove(leaf).filter((node) => !prefix.includes(node));
  const last = blocks.at(-1);
  const added = leaf.tokens.length + tokenCount(needed.filter((node) => !last?.copies.has(node)));
  const block = last && tokenCount(last.nodes) + added <= REST_TOKENS ? last : newBlock(blocks);
  const copyOf = (node: Node): Node => {
    const copy = { ...node, parent: node.parent && (block.copies.get(node.parent) ?? node.parent) };
    block.nodes.push(copy);
    return copy;
  };
  for (const node of needed) getOrSet(block.copies, node, () => copyOf(node));
  return copyOf(leaf);
}

function newBlock(blocks: Block[]): Block {
  const block = { copies: new Map<Node, Node>(), nodes: [] };
  blocks.push(block);
  return block;
}

function forwardsOf({ nodes: prefix, blocks }: Stem, inFlight: number): Forward[] {
  const most = Math.max(MOST_TOKENS, tokenCount(prefix)) / REST_TOKENS;
  const isFree = prefix.length === 0;
  const share = isFree ? Math.ceil(blocks.length / inFlight) : blocks.length;
  const perForward = Math.max(1, Math.min(Math.floor(most), share));
  const forwards: Node[][][] = [];
  for (const { nodes: block } of blocks) {
    const last = forwards.at(-1);
    const isChain = tokenCount(block) > REST_TOKENS; // begins at the first key
    const isOpen = last && last.length < perForward && tokenCount(last[0] ?? []) <= REST_TOKENS;
    if (isOpen && !isChain) last.push(block);
    else forwards.push([block]);
  }
  return forwards.map((some) => ({
    pastPrefix: [],
    pastRest: [],
    newPrefix: prefix,
    newRest: some.flatMap((block, at) => (at < some.length - 1 ? [...block, ...fillerAfter(block)] : block)),
  }));
}

/** Padding that no node attends to, so that the next block starts at a multiple of `REST_TOKENS`. */
function fillerAfter(block: readonly Node[]): readonly Node[] {
  const missing = REST_TOKENS - tokenCount(block);
  return missing === 0 ? [] : [nodeBelow(undefined, new Int32Array(missing))];
}
