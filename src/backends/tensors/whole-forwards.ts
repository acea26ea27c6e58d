import type { TokenTree } from "../../inference/ports.ts";
import { type Forward, isLongQuestion, isLongState, type Node, REST_TOKENS, tokenCount } from "./forward.ts";

/**
 * Tokens that a forward may have below its state. Below a longer state it may have as many as the state, because each forward
 * computes its state again. Chosen.
 */
const MOST_TOKENS = 4 * REST_TOKENS;

export interface WholePlan {
  readonly forwards: readonly Forward[];
  /** [pairs] the candidate node of each pair of the forest, in its order */
  readonly pairs: readonly Node[];
}

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
 * Splits a forest into independent forwards: each contains every node above its candidates. Scores are bit-identical to
 * those of forward-plan.ts, because the keys of a node are at the same position there, or within one block of `REST_TOKENS`.
 *
 * @param inFlight number of parallel forwards; blocks without a prefix are distributed over them
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
 * Adds a candidate and the nodes above it to the last block, or to a new block if they do not fit. Each block has its own
 * copies of the nodes above, because a node's queries see all keys of the same node.
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

/** Padding that no node attends to, so that the next block starts at a multiple of `REST_TOKENS`. */
function fillerAfter(block: readonly Node[]): readonly Node[] {
  const missing = REST_TOKENS - tokenCount(block);
  return missing === 0 ? [] : [{ level: 0, tokens: new Int32Array(missing), above: [] }];
}
