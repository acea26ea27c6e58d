import { getOrSet } from "../collections.ts";
import { type Node, nodeBelow } from "../nodes.ts";

/**
 * Splits the tokens of a pair into the nodes that pairs can share:
 *
 *     pair       ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒▒░░░░░░
 *     state      ▓▓▓▓▓▓▓▓▓▓▓▓▓▓x                  the state's text alone
 *     prompt     ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒▒y         everything before the candidate
 *
 * The state part is the common prefix of the pair and the state alone. The question part continues it to the end of the common
 * prefix of the pair and the prompt. Tokens may span the borders of texts (x, y), so the lengths of the texts do not determine
 * where to split. The candidate part has at least one token, because the score is read at its last one.
 *
 * Use one cutter per request: equal parts become the same node.
 */
export class PathCutter {
  readonly #stateAlone: Int32Array;
  readonly #states = new Map<number, Node>(); // by length
  readonly #questions = new Map<Int32Array, Map<string, Node>>(); // by prompt, by "begin-end"

  /** @param stateAlone [tokens] of the state's text alone */
  constructor(stateAlone: Int32Array) {
    this.#stateAlone = stateAlone;
  }

  /**
   * @param pair   [tokens], at least one
   * @param prompt [tokens] of everything before the candidate; the same array for all candidates of a question
   * @returns      the candidate
   */
  cut(pair: Int32Array, prompt: Int32Array): Node {
    const most = pair.length - 1;
    const begin = commonLength(pair, this.#stateAlone, most);
    const end = Math.max(begin, commonLength(pair, prompt, most));
    const state = getOrSet(this.#states, begin, () => nodeBelow(undefined, pair.slice(0, begin)));
    const questions = getOrSet(this.#questions, prompt, () => new Map<string, Node>());
    const question = getOrSet(questions, `${begin}-${end}`, () => nodeBelow(state, prompt.slice(begin, end)));
    return nodeBelow(question, pair.slice(end)); // a copy: a view would keep the whole pair in memory
  }
}

/** Length of the common prefix of two lists, at most `most`. */
function commonLength(a: Int32Array, b: Int32Array, most: number): number {
  const end = Math.min(a.length, b.length, most);
  let length = 0;
  while (length < end && a[length] === b[length]) length += 1;
  return length;
}
