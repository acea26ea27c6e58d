import type { TokenTree } from "../../inference/ports.ts";
import { type Forward, isLongQuestion, isLongState, type Node, REST_TOKENS, tokenCount } from "./forward.ts";

/** Tokens of a forward below its state, at least; more below a longer one, which each forward computes anew. Chosen. */
const MOST_TOKENS = 4 * REST_TOKENS;

export interface WholePlan {
  readonly forwards: readonly Forward[];
  /** [pairs] the candidate node of each pair of the forest, in its order */
  readonly pairs: readonly Node[];
}

/** A state, and its long question if any: what a forward computes before the others. */
interface Stem {
  readonly nodes: readonly Node[];
  readonly blocks: Block[];
}

/** At most `REST_TOKENS`, or one chain of nodes. */
interface Block {
  /** Its own nodes of those above candidates. */
  readonly copies: Map<Node, Node>;
  readonly nodes: Node[];
}

/**
 * Cuts a forest into forwards that need nothing of each other: each holds every node above its candidates. A node has the bits that it has
 * in a forward of forward-plan.ts, because what it attends to stands at the same place or within one block of `REST_TOKENS` keys.
 *
 * @param inFlight forwards that run at the same time: so many share what has no state to compute anew
 */
export function planWhole(
  forest: readonly TokenTree[],
  stateKey: (tree: TokenTree) => string,
  inFlight: number,
): WholePlan {
  const pairs: Node[] = [];
  const stems = new Map<string, Stem>();
  const states = new Map<string, Node>();
  const stemOf = (name: string, nodes: readonly Node[]) => {
    const stem = stems.get(name) ?? { nodes, blocks: [] };
    stems.set(name, stem);
    return stem;
  };
  for (const tree of forest) {
    const key = stateKey(tree);
    const state = states.get(key) ?? { level: 0, tokens: tree.state, above: [] };
    states.set(key, state);
    for (const { tokens, candidates } of tree.questions) {
      const question: Node = { level: 1, tokens, above: [state] };
      const prefix = isLongQuestion(question) ? question.above.concat(question) : [state].filter(isLongState);
      const name = isLongQuestion(question) ? `${key} ${stems.size}` : prefix.length > 0 ? key : "";
      const stem = stemOf(name, prefix);
      for (const each of candidates) {
        pairs.push(place(stem, [state, question], each));
      }
    }
  }
  return { forwards: [...stems.values()].flatMap((stem) => forwardsOf(stem, inFlight)), pairs };
}

/**
 * A candidate, in the last block if it fits there with the nodes above it that the block lacks, else in a new one. Each block has nodes of
 * its own, because nodes that are the same see one another.
 */
function place({ nodes: prefix, blocks }: Stem, above: readonly Node[], tokens: Int32Array): Node {
  const needed = above.filter((node) => !prefix.includes(node));
  const last = blocks.at(-1);
  const added = tokens.length + tokenCount(needed.filter((node) => !last?.copies.has(node)));
  const block = last && tokenCount(last.nodes) + added <= REST_TOKENS ? last : newBlock(blocks);
  for (const node of needed) {
    if (block.copies.has(node)) continue;
    const copy = { ...node, above: node.above.map((each) => block.copies.get(each) ?? each) };
    block.copies.set(node, copy);
    block.nodes.push(copy);
  }
  const candidate: Node = { level: 2, tokens, above: above.map((node) => block.copies.get(node) ?? node) };
  block.nodes.push(candidate);
  return candidate;
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

/** A node that nobody attends to, so that the next block begins where a block does. */
function fillerAfter(block: readonly Node[]): readonly Node[] {
  const missing = REST_TOKENS - tokenCount(block);
  return missing === 0 ? [] : [{ level: 0, tokens: new Int32Array(missing), above: [] }];
}
