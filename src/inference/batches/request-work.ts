import { LRUCache } from "lru-cache";
import { type Node, pathLength, type RequestPlan, stateOf } from "../nodes.ts";

/** A pair's score, with the input vector of the model's head if the backend is configured to return it. */
export type PairResult = number | { readonly score: number; readonly vector: Float32Array };

/** Scores by the key of a pair's full input. Evicts the least recently used ones. */
export class ScoreCache {
  readonly #scores: LRUCache<string, PairResult> | undefined;
  /** Lookups that found a score. */
  hits = 0;

  /** @param capacity entries, 0 = off */
  constructor(capacity: number) {
    if (capacity > 0) this.#scores = new LRUCache({ max: capacity });
  }

  get size(): number {
    return this.#scores?.size ?? 0;
  }

  get(key: string): PairResult | undefined {
    const result = this.#scores?.get(key);
    if (result !== undefined) this.hits += 1;
    return result;
  }

  set(key: string, result: PairResult): void {
    this.#scores?.set(key, result);
  }
}

/**
 * The pairs and scores of one request. Pairs are handed out to batches in order, each once:
 *
 *     pairs   0 1 2 3 4 5 6 7 8 9
 *             answered │in a │ not yet handed out
 *                      │batch│ ^ cursor
 */
export class RequestWork {
  /** Order of admission: older requests have smaller numbers. */
  readonly order: number;
  /** One [candidates] array for each question. */
  readonly scores: readonly Float32Array[];
  /** One [candidates, size] array for each question; undefined until a result has a vector. */
  vectors: readonly Float32Array[] | undefined;
  /** Questions with candidates that are the same input to the model. */
  readonly indistinct: number;
  inputTokens = 0;
  cachedPairs = 0;
  readonly deadlineAt: number;
  /** Number of younger requests that have begun while this one waited. */
  overtakenBy = 0;

  readonly #pairs: readonly Pair[];
  /** [pairs + 1] tokens of candidates and questions from each pair to the last one. Each question counts once. */
  readonly #tokensFrom: Float64Array;
  /** The request's states, in the order of their last pairs; usually one. */
  readonly #states: readonly LastUse[];
  #cursor = 0;
  #unanswered: number;
  #hasBegun = false;
  /** Keys of the states that batches have got with its pairs. */
  readonly #sentStates = new Set<string>();

  constructor(order: number, plan: RequestPlan, deadlineAt = Number.POSITIVE_INFINITY) {
    this.order = order;
    this.deadlineAt = deadlineAt;
    this.scores = plan.map((paths) => new Float32Array(paths.length));
    this.#pairs = listPairs(plan);
    this.indistinct = countIndistinct(this.#pairs, plan.length);
    this.#tokensFrom = sumFromEnd(this.#pairs);
    this.#states = lastUses(this.#pairs);
    this.#unanswered = this.#pairs.length;
  }

  /** The next pair to hand out. */
  get nextPair(): Pair | undefined {
    return this.#pairs[this.#cursor];
  }

  /** Tokens of the request. Each state and each question counts once. */
  get tokens(): number {
    return this.#states.reduce((sum, { state }) => sum + state.tokens.length, this.#tokensFrom[0] ?? 0);
  }

  /** Tokens of the pairs not yet handed out. States that were in a batch do not count. */
  get remainingTokens(): number {
    let tokens = this.#tokensFrom[this.#cursor] ?? 0;
    for (let i = this.#states.length - 1; i >= 0; i--) {
      const use = this.#states[i];
      if (use === undefined || use.lastPair < this.#cursor) break;
      if (!this.hasSent(use.state)) tokens += use.state.tokens.length;
    }
    return tokens;
  }

  get remainingPairs(): number {
    return this.#pairs.length - this.#cursor;
  }

  /** Whether a pair has been handed out to a batch. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether a batch had this state for a pair of this request, so that the backend has probably cached it. */
  hasSent(state: Node): boolean {
    return this.#sentStates.has(state.key);
  }

  get isAnswered(): boolean {
    return this.#unanswered === 0;
  }

  /** Answers the next pair from the score cache and moves past it. */
  skipKnown(result: PairResult): void {
    const pair = this.nextPair;
    if (pair === undefined) return;
    this.#cursor += 1;
    this.answer(pair, result, false);
  }

  /** Moves past the next pair, which is now in a batch. */
  handOut(): void {
    const leaf = this.nextPair?.leaf;
    if (leaf !== undefined) this.#sentStates.add(stateOf(leaf).key);
    this.#cursor += 1;
    this.#hasBegun = true;
  }

  /** Sets a pair's score, once. A computed pair adds to `inputTokens`, any other to `cachedPairs`. */
  answer(pair: Pair, result: PairResult, isComputed: boolean): void {
    const scores = this.scores[pair.questionIndex];
    if (scores !== undefined)
      scores[pair.candidateIndex] = typeof result === "number" ? result : result.score;
    if (typeof result !== "number") this.#keepVector(pair, result.vector);
    this.#unanswered -= 1;
    if (isComputed) this.inputTokens += pathLength(pair.leaf);
    else this.cachedPairs += 1;
  }

  #keepVector({ questionIndex, candidateIndex }: Pair, vector: Float32Array): void {
    this.vectors ??= this.scores.map(({ length }) => new Float32Array(length * vector.length));
    this.vectors[questionIndex]?.set(vector, candidateIndex * vector.length);
  }
}

interface LastUse {
  readonly state: Node;
  /** Index of the last pair with this state. */
  readonly lastPair: number;
}

function lastUses(pairs: readonly Pair[]): readonly LastUse[] {
  const uses = new Map<string, LastUse>();
  for (const [lastPair, { leaf }] of pairs.entries()) {
    const state = stateOf(leaf);
    uses.delete(state.key); // moves it to the end
    uses.set(state.key, { state, lastPair });
  }
  return [...uses.values()];
}

function sumFromEnd(pairs: readonly Pair[]): Float64Array {
  const sums = new Float64Array(pairs.length + 1);
  const questionsBelow = new Set<string>(); // a question counts at its last pair
  for (let at = pairs.length - 1; at >= 0; at--) {
    const leaf = pairs[at]?.leaf;
    if (leaf?.parent === undefined) continue;
    const { tokens, parent: question } = leaf;
    const isNewQuestion = !questionsBelow.has(question.key);
    questionsBelow.add(question.key);
    sums[at] = tokens.length + (isNewQuestion ? question.tokens.length : 0) + (sums[at + 1] ?? 0);
  }
  return sums;
}

/** @param questions number of questions of the pairs */
function countIndistinct(pairs: readonly Pair[], questions: number): number {
  const keys = Array.from({ length: questions }, () => new Set<string>());
  const indistinct = new Set<number>();
  for (const { leaf, questionIndex } of pairs) {
    const seen = keys[questionIndex];
    if (seen?.has(leaf.key)) indistinct.add(questionIndex);
    seen?.add(leaf.key);
  }
  return indistinct.size;
}

/** A leaf of a request, with its place there. `leaf.key` identifies the pair's full input. */
export interface Pair {
  readonly leaf: Node;
  readonly questionIndex: number;
  readonly candidateIndex: number;
}

/** The pairs of a request, question by question, candidate by candidate. */
export function listPairs(plan: RequestPlan): readonly Pair[] {
  return plan.flatMap((leaves, questionIndex) =>
    leaves.map((leaf, candidateIndex) => ({ leaf, questionIndex, candidateIndex })),
  );
}
