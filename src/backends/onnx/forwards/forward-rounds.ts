import {
  type Forward,
  type ForwardTask,
  keyCount,
  type Node,
  newNodes,
  newTokens,
  pastNodes,
} from "../tensors/forward.ts";

/** Which round each forward is in: forwards of a round need only what those of earlier ones encode. */
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

/** Keys that take a query about as long as its way through the linear layers. Measured with the embedded model. */
const KEYS_OF_A_TOKEN = 600;
/** Time of a forward, in any unit. */
const costOf = ({ forward }: ForwardTask) => newTokens(forward) * (KEYS_OF_A_TOKEN + keyCount(forward));

/** From so many keys on a forward counts as large. Chosen. */
const MANY_KEYS = 256;
/** Part of its time that is saved when all threads share a forward. Measured on 2 processors with 1,000 tokens and with 46. */
const SAVED = { large: 0.34, small: 0.13 };
const savedBySharing = (task: ForwardTask) =>
  costOf(task) * (keyCount(task.forward) >= MANY_KEYS ? SAVED.large : SAVED.small);

/** Which tasks run side by side, the longest first, and which alone, in all threads: one that so saves more time than the others take. */
export function shareOut(tasks: readonly ForwardTask[]): {
  readonly alone: readonly ForwardTask[];
  readonly sideBySide: readonly ForwardTask[];
} {
  const sideBySide = [...tasks].sort((a, b) => costOf(b) - costOf(a));
  const alone: ForwardTask[] = [];
  let rest = tasks.reduce((sum, task) => sum + costOf(task), 0);
  for (let longest = sideBySide[0]; longest; longest = sideBySide[0]) {
    rest -= costOf(longest);
    if (savedBySharing(longest) <= rest) break;
    alone.push(longest);
    sideBySide.shift();
  }
  return { alone, sideBySide };
}
