import { jointLength, listPairs, type Pair } from "./pairs.ts";
import type { TokenTree } from "./ports.ts";

/**
 * What one request still needs, and what it has got. Pairs are handed out in order, each once:
 *
 *     pairs   0 1 2 3 4 5 6 7 8 9
 *             answered │in a │ not yet handed out
 *                      │batch│ ^ cursor
 */
export class RequestWork {
  /** Rises with admission: a smaller one is older. */
  readonly order: number;
  /** One [candidates] array for each question. */
  readonly scores: readonly Float32Array[];
  inputTokens = 0;
  cachedPairs = 0;

  readonly #stateTokens: number;
  readonly #isStateKept: boolean;
  readonly #pairs: readonly Pair[];
  /** [pairs + 1] question and candidate tokens of the pairs from here on, each question once. */
  readonly #tokensFrom: Float64Array;
  #cursor = 0;
  #unanswered: number;
  #hasBegun = false;

  /** @param shortestKeptState of the backend */
  constructor(order: number, tree: TokenTree, shortestKeptState: number) {
    this.order = order;
    this.#isStateKept = tree.state.length >= shortestKeptState;
    this.scores = tree.questions.map((question) => new Float32Array(question.candidates.length));
    this.#stateTokens = tree.state.length;
    this.#pairs = listPairs(tree);
    this.#tokensFrom = sumFromEnd(this.#pairs);
    this.#unanswered = this.#pairs.length;
  }

  /** The next pair to hand out. */
  get nextPair(): Pair | undefined {
    return this.#pairs[this.#cursor];
  }

  /** Most new tokens that the pairs not yet handed out can cost in one batch. */
  get remainingTokens(): number {
    return (this.#tokensFrom[this.#cursor] ?? 0) + (this.holdsState ? 0 : this.#stateTokens);
  }

  get remainingPairs(): number {
    return this.#pairs.length - this.#cursor;
  }

  /** Whether a pair has been handed out to a batch. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether the backend has the state's keys and values: from the first batch on, if it keeps states of this length. */
  get holdsState(): boolean {
    return this.#hasBegun && this.#isStateKept;
  }

  get isAnswered(): boolean {
    return this.#unanswered === 0;
  }

  /** Moves past the next pair, which the cache knows. */
  skipKnown(score: number): void {
    const pair = this.nextPair;
    if (pair === undefined) return;
    this.#cursor += 1;
    this.answer(pair, score, false);
  }

  /** Moves past the next pair, which a batch has taken. */
  handOut(): void {
    this.#cursor += 1;
    this.#hasBegun = true;
  }

  /** Gives a pair its score, once. A computed pair adds its tokens, any other counts as cached. */
  answer(pair: Pair, score: number, isComputed: boolean): void {
    const scores = this.scores[pair.questionIndex];
    if (scores !== undefined) scores[pair.candidateIndex] = score;
    this.#unanswered -= 1;
    if (isComputed) this.inputTokens += jointLength(pair);
    else this.cachedPairs += 1;
  }
}

function sumFromEnd(pairs: readonly Pair[]): Float64Array {
  const sums = new Float64Array(pairs.length + 1);
  let questionBelow = -1; // pairs of a question stand together: it counts where its last pair stands
  for (let at = pairs.length - 1; at >= 0; at--) {
    const pair = pairs[at];
    if (pair === undefined) continue;
    const isNewQuestion = pair.questionIndex !== questionBelow;
    questionBelow = pair.questionIndex;
    const own = pair.candidate.tokens.length + (isNewQuestion ? pair.question.tokens.length : 0);
    sums[at] = own + (sums[at + 1] ?? 0);
  }
  return sums;
}
