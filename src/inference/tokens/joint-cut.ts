import { getOrSet } from "../get-or-set.ts";
import type { TokenPath } from "../ports.ts";

/**
 * Cuts a pair's tokens where pairs may share them:
 *
 *     pair       ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒▒░░░░░░
 *     state      ▓▓▓▓▓▓▓▓▓▓▓▓▓▓x                  the state's text alone
 *     prompt     ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒▒y         everything before the candidate
 *
 * The state part goes as far as both have the same tokens, the question part on from there as far as pair and prompt have. Tokens may
 * reach across the borders of texts (x, y), so the texts' own lengths do not say where. The candidate keeps one token at least, since
 * the score is read at its last.
 *
 * One cutter serves one request: parts that are equal come out as one array.
 */
export class PathCutter {
  readonly #stateAlone: Int32Array;
  readonly #stateParts = new Map<number, Int32Array>(); // by length
  readonly #questionParts = new Map<Int32Array, Map<string, Int32Array>>(); // by prompt, by "begin-end"

  /** @param stateAlone [tokens] of the state's text alone */
  constructor(stateAlone: Int32Array) {
    this.#stateAlone = stateAlone;
  }

  /**
   * @param pair   [tokens], at least one
   * @param prompt [tokens] of everything before the candidate; the same array for all candidates of a question
   */
  cut(pair: Int32Array, prompt: Int32Array): TokenPath {
    const most = pair.length - 1;
    const begin = commonLength(pair, this.#stateAlone, most);
    const end = Math.max(begin, commonLength(pair, prompt, most));
    return {
      state: getOrSet(this.#stateParts, begin, () => pair.slice(0, begin)),
      question: this.#questionPart(prompt, begin, end),
      candidate: pair.slice(end), // a copy: a view would keep the whole pair
    };
  }

  #questionPart(prompt: Int32Array, begin: number, end: number): Int32Array {
    const parts = getOrSet(this.#questionParts, prompt, () => new Map<string, Int32Array>());
    return getOrSet(parts, `${begin}-${end}`, () => prompt.slice(begin, end));
  }
}

/** How many tokens two lists begin with alike, `most` at most. */
function commonLength(a: Int32Array, b: Int32Array, most: number): number {
  const end = Math.min(a.length, b.length, most);
  let length = 0;
  while (length < end && a[length] === b[length]) length += 1;
  return length;
}
