import type { TokenTree } from "../../../inference/ports.ts";
import {
  type Forward,
  isLongQuestion,
  isLongState,
  type Node,
  REST_TOKENS,
  tokenCount,
} from "../../tensors/forward.ts";
import { ForwardPacker } from "./forward-packer.ts";

/** Minimum new tokens of a forward when work is split so that every thread has one. Chosen: two requests of 45 tokens justify two threads. */
const FEWEST_TOKENS = 32;
/** Minimum tokens below a state to encode the state first and spread the rest over threads. Chosen: another forward costs as much as 25 tokens. */
const WORTH_SHARING = 96;

export interface ForwardPlan {
  /** By `stateKey`. */
  readonly states: ReadonlyMap<string, Node>;
  /** Ordered so that every forward comes after those it depends on. */
  readonly forwards: readonly Forward[];
  /** [pairs] the candidate node of each pair of the forest, in its order */
  readonly pairs: readonly Node[];
}

/** A tree's nodes. */
interface Branch {
  readonly state: Node;
  readonly twigs: readonly Twig[];
}
interface Twig {
  readonly question: Node;
  readonly candidates: readonly Node[];
}

/**
 * Cuts a forest into forwards. Trees with the same state share it.
 *
 * @param stateKey key of a tree's state; equal states become one node
 * @param isKnown  whether the keys and values of a state are cached
 * @param threads  forwards that may run in parallel; does not change scores
 */
export function planForwards(
  forest: readonly TokenTree[],
  stateKey: (tree: TokenTree) => string,
  isKnown: (key: string) => boolean,
  threads: number,
): ForwardPlan {
  const states = new Map<string, Node>();
  const encoded = new Set<Node>();
  const branches = forest.map((tree) => {
    const key = stateKey(tree);
    const state = states.get(key) ?? { level: 0, tokens: tree.state, above: [] };
    states.set(key, state);
    if (isKnown(key)) encoded.add(state);
    return branchOf(tree, state);
  });
  const packer = new ForwardPacker(encoded);
  // many trees keep every thread busy anyway
  if (threads > 1 && branches.length < 2 * threads) packFirst(packer, branches);
  if (threads > 1) packer.share = shareOf(branches, encoded, threads);
  for (const branch of branches) {
    if (threads > 1) packTogether(packer, branch);
    else for (const twig of branch.twigs) packTwig(packer, twig);
  }
  packer.close();
  const pairs = branches.flatMap(({ twigs }) => twigs.flatMap(({ candidates }) => candidates));
  return { states, forwards: packer.forwards, pairs };
}

function branchOf(tree: TokenTree, state: Node): Branch {
  const twigs = tree.questions.map(({ tokens, candidates }): Twig => {
    const question: Node = { level: 1, tokens, above: [state] };
    const above = [state, question];
    return { question, candidates: candidates.map((tokens): Node => ({ level: 2, tokens, above })) };
  });
  return { state, twigs };
}

const nodesOf = ({ question, candidates }: Twig) => [question, ...candidates];

/** New tokens per forward that give every thread the same number of forwards. */
function shareOf(branches: readonly Branch[], encoded: ReadonlySet<Node>, threads: number): number {
  const nodes = new Set(branches.flatMap(({ state, twigs }) => [state, ...twigs.flatMap(nodesOf)]));
  const total = tokenCount([...nodes].filter((node) => !isLongState(node) && !encoded.has(node)));
  const forwards = threads * Math.ceil(total / (threads * REST_TOKENS));
  return Math.max(FEWEST_TOKENS, Math.ceil(total / forwards));
}

/**
 * Encodes states first, with as many of their questions as fit into one forward, if candidates would otherwise wait for
 * each other.
 */
function packFirst(packer: ForwardPacker, branches: readonly Branch[]): void {
  for (const { state, twigs } of branches) {
    const candidates = twigs
      .filter(({ question }) => !isLongQuestion(question))
      .flatMap((twig) => twig.candidates);
    if (candidates.length < 2 || tokenCount(twigs.flatMap(nodesOf)) < WORTH_SHARING) continue;
    const isNeeded = isLongState(state) && !packer.has(state);
    if (!isNeeded && twigs.every((twig) => packer.fits(nodesOf(twig)))) continue;
    const questions: Node[] = [];
    for (const { question } of twigs) {
      if (!isLongQuestion(question) && packer.fits([...questions, question])) questions.push(question);
    }
    if (questions.length > 0) packer.add(questions);
  }
  packer.close();
}

/** Keeps related nodes together if they fit (a tree below a short state, a question with its candidates), so that forwards rarely depend on others. */
function packTogether(packer: ForwardPacker, { state, twigs }: Branch): void {
  const hasLongQuestion = twigs.some(({ question }) => isLongQuestion(question));
  const all = twigs.flatMap(nodesOf);
  if (!isLongState(state) && !hasLongQuestion && packer.fits(all)) {
    packer.add(all);
    return;
  }
  for (const twig of twigs) {
    const isWhole =
      !isLongQuestion(twig.question) && !packer.has(twig.question) && packer.fits(nodesOf(twig));
    if (isWhole) packer.add(nodesOf(twig));
    else packTwig(packer, twig);
  }
}

/** Fills forwards. A question goes into the forward of its first candidate. */
function packTwig(packer: ForwardPacker, { question, candidates }: Twig): void {
  if (isLongQuestion(question)) packer.addLongQuestion(question);
  for (const candidate of candidates) packer.add([candidate]);
}
