import type { Backend, BatchScores } from "../../src/inference/backend.ts";
import { type Node, pathOf } from "../../src/inference/nodes.ts";
import { type TokenTree, treesOf } from "../support/trees.ts";

export interface Call {
  readonly forest: readonly TokenTree[];
  readonly pairs: readonly string[];
  answer(scores?: Float32Array, vectors?: Float32Array, cachedTokens?: number): void;
  fail(cause?: Error): void;
}

/** A backend whose answers the test controls. A pair's score is a hash of its tokens. */
export class ScriptedBackend implements Backend {
  #isReady = true;
  #onReady: () => void = () => {};
  isClosed = false;
  isExpected = true;
  startFailure: Error | undefined;
  /** Every call so far. */
  readonly calls: Call[] = [];
  /** Told of each call as it comes. */
  onCall: (call: Call) => void = () => {};
  readonly #unanswered: Call[] = [];

  /** The call that is computed. */
  get current(): Call | undefined {
    return this.#unanswered[0];
  }

  /** Calls that have no answer. */
  get waitingCount(): number {
    return this.#unanswered.length;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  set isReady(isReady: boolean) {
    this.#isReady = isReady;
    if (isReady) this.#onReady();
  }

  /** Loses its current call and its cache. The test decides when it is ready again. */
  die(): void {
    this.#isReady = false;
    for (const call of [...this.#unanswered]) call.fail(new Error("scripted death"));
  }

  onReady(listener: () => void): void {
    this.#onReady = listener;
  }

  async start(): Promise<void> {
    if (this.startFailure !== undefined) throw this.startFailure;
  }

  score(leaves: readonly Node[]): Promise<BatchScores> {
    if (this.#unanswered.length === 2) throw new Error("three batches at a time");
    const pairs = leaves.map((leaf) => nameOf(pathOf(leaf).map(({ tokens }) => tokens)));
    return new Promise((resolve, reject) => {
      const end = <Rest extends unknown[]>(action: (...rest: Rest) => void) => {
        return (...rest: Rest) => {
          this.#unanswered.splice(this.#unanswered.indexOf(call), 1);
          action(...rest);
        };
      };
      const call: Call = {
        forest: treesOf(leaves),
        pairs,
        answer: end((scores = Float32Array.from(pairs, scoreOf), vectors, cachedTokens = 0) =>
          resolve({ scores, forwards: 1, cachedTokens, ...(vectors && { vectors }) }),
        ),
        fail: end((cause = new Error("scripted failure")) => reject(cause)),
      };
      this.#unanswered.push(call);
      this.calls.push(call);
      this.onCall(call);
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

/** What names a pair: all its tokens. */
const nameOf = (path: readonly Int32Array[]) => path.map((tokens) => tokens.join(" ")).join(" | ");

export function pairsOf(forest: readonly TokenTree[]): readonly string[] {
  return forest.flatMap(({ state, questions }) =>
    questions.flatMap(({ tokens, candidates }) =>
      candidates.map((candidate) => nameOf([state, tokens, candidate])),
    ),
  );
}

/** FNV-1a, in [0, 1). */
export function scoreOf(pair: string): number {
  let hash = 0x811c9dc5;
  for (const character of pair) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193) >>> 0;
  return Math.fround(hash / 2 ** 32);
}

/** A tree with nodes of the given lengths; equal ids give equal tokens. */
export function makeTree(
  state: TokenNode,
  questions: readonly { question: TokenNode; candidates: readonly TokenNode[] }[],
): TokenTree {
  return {
    state: makeTokens(state),
    questions: questions.map(({ question, candidates }) => ({
      tokens: makeTokens(question),
      candidates: candidates.map(makeTokens),
    })),
  };
}

export interface TokenNode {
  readonly id: number;
  readonly length: number;
}

function makeTokens({ id, length }: TokenNode): Int32Array {
  return Int32Array.from({ length }, (_, at) => id + at);
}
