import { type Forward, type ForwardTask, keyCount, newTokens } from "../../tensors/forward.ts";

/** Number of keys whose attention costs a query as much time as the linear layers. Measured with the embedded model. */
const KEYS_OF_A_TOKEN = 600;
/** Estimated time of a forward, in arbitrary units. */
const costOf = ({ forward }: ForwardTask) => newTokens(forward) * (KEYS_OF_A_TOKEN + keyCount(forward));

/** A forward with at least this many keys counts as large. Chosen. */
const MANY_KEYS = 256;
/** Share of its time that a forward saves when all threads share it. Measured on 2 processors with 1,000 and with 46 tokens. */
const SAVED = { large: 0.34, small: 0.13 };
const savedBySharing = (task: ForwardTask) =>
  costOf(task) * (keyCount(task.forward) >= MANY_KEYS ? SAVED.large : SAVED.small);

/**
 * Splits tasks into those that run in parallel, longest first, and those that run alone in all threads. A task runs alone
 * if sharing it among all threads saves more time than the remaining tasks take.
 */
export function shareOut(tasks: readonly ForwardTask[]): {
  readonly alone: readonly ForwardTask[];
  readonly sideBySide: readonly ForwardTask[];
} {
  const sideBySide = longestFirst(tasks);
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

export function longestFirst(tasks: readonly ForwardTask[]): ForwardTask[] {
  return [...tasks].sort((a, b) => costOf(b) - costOf(a));
}

/** Whether forwards run in parallel without loss: they are independent, and none is large. */
export function areSmall(rounds: readonly (readonly Forward[])[]): boolean {
  return rounds.length === 1 && rounds.flat().every((forward) => keyCount(forward) < MANY_KEYS);
}
