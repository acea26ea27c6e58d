import { getOrSet } from "../get-or-set.ts";
import type { TokenPath } from "../ports.ts";

/**
 * Splits the tokens of a pair into the parts that pairs can share:
 *
 *     pair       ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒▒░░░░░░
 *     state      ▓▓▓▓▓▓▓▓▓▓▓▓▓▓x                  the state's text alone
 *     prompt     ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒▒y         everything before the candidate
 *
 * The state part is the common prefix of the pair and the state alone. The question part continues it to the end of the common
 * prefix of the pair and the prompt. Tokens may span the borders of texts (x, y), so the lengths of the texts do not determine
 * where to split. The candidate part has at least one token, because the score is read at its last one.
 *
 * Use one cutter per request: equal parts become the same array.
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
      candidate: pair.slice(end), // a copy: a view would keep the whole pair in memory
    };
  }

  #questionPart(prompt: Int32Array, begin: number, end: number): Int32Array {
    const parts = getOrSet(this.#questionParts, prompt, () => new Map<string, Int32Array>());
    return getOrSet(parts, `${begin}-${end}`, () => prompt.slice(begin, end));
  }
}

/** Length of the common prefix of two lists, at most `most`. */
function commonLength(a: Int32Array, b: Int32Array, most: number): number {
  const end = Math.min(a.length, b.length, most);
  let length = 0;
  while (length < end && a[length] === b[length]) length += 1;
  return length;
}
