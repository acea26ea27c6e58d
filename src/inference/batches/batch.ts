import { getOrSet } from "../get-or-set.ts";
import type { TokenTree } from "../ports.ts";
import type { KeyedNode, Pair } from "./pairs.ts";
import type { RequestWork } from "./request-work.ts";

/** A pair of a request that gets a score. If several recipients have the same pair, only the first is charged for its tokens. */
export interface Recipient {
  readonly work: RequestWork;
  readonly pair: Pair;
}

interface QuestionDraft {
  readonly node: KeyedNode;
  readonly candidates: Map<string, Recipient[]>; // by the pair's key
}

interface TreeDraft {
  readonly state: KeyedNode;
  readonly questions: Map<string, QuestionDraft>; // by the question's key
}

/**
 * The pairs of one call of the backend, from one or more requests. What requests share is computed once.
 *
 *     request 1: S ── Q ──┬── a                    S ── Q ──┬── a  -> request 1
 *                         └── b        becomes              ├── b  -> request 1 (charged), request 2
 *     request 2: S ── Q ──┬── b                             └── c  -> request 2
 *                         └── c
 */
export class Batch {
  readonly requests = new Set<RequestWork>();
  /** New tokens of requests that were long when the batch was formed. */
  longTokens = 0;
  #pairCount = 0;
  #tokenCount = 0;
  #heldTokens = 0;
  #longestPath = 0;
  readonly #trees = new Map<string, TreeDraft>(); // by the state's key

  /** All tokens of its forest, including those of states that the backend has cached. */
  get allTokens(): number {
    return this.#tokenCount + this.#heldTokens;
  }

  /** Pairs to compute. */
  get pairCount(): number {
    return this.#pairCount;
  }

  /** New tokens to compute. */
  get tokenCount(): number {
    return this.#tokenCount;
  }

  /** The largest number of new tokens that one pair added by its state and question. */
  get longestPath(): number {
    return this.#longestPath;
  }

  /** `tokenCount` and `longestPath` as they would be with this pair. */
  with(recipient: Recipient): { readonly tokens: number; readonly longestPath: number } {
    const cost = this.costOf(recipient);
    const path = cost === 0 ? 0 : cost - recipient.pair.candidate.tokens.length;
    return { tokens: this.#tokenCount + cost, longestPath: Math.max(this.#longestPath, path) };
  }

  /** New tokens that a pair would add; 0 if the batch has it already. */
  costOf({ work, pair }: Recipient): number {
    const tree = this.#trees.get(pair.state.key);
    const question = tree?.questions.get(pair.question.key);
    if (question?.candidates.has(pair.candidate.key)) return 0;
    const stateCost = tree !== undefined || work.holds(pair.state) ? 0 : pair.state.tokens.length;
    const questionCost = question !== undefined ? 0 : pair.question.tokens.length;
    return stateCost + questionCost + pair.candidate.tokens.length;
  }

  add(recipient: Recipient): void {
    const { state, question, candidate } = recipient.pair;
    const { tokens, longestPath } = this.with(recipient);
    this.#tokenCount = tokens;
    this.#longestPath = longestPath;
    this.requests.add(recipient.work);
    if (!this.#trees.has(state.key) && recipient.work.holds(state)) this.#heldTokens += state.tokens.length;
    const tree = getOrSet<string, TreeDraft>(this.#trees, state.key, () => ({ state, questions: new Map() }));
    const draft = getOrSet<string, QuestionDraft>(tree.questions, question.key, () => ({
      node: question,
      candidates: new Map(),
    }));
    const recipients = getOrSet<string, Recipient[]>(draft.candidates, candidate.key, () => []);
    if (recipients.length === 0) this.#pairCount += 1;
    recipients.push(recipient);
  }

  /** A batch of the pairs of one request. */
  partOf(work: RequestWork): Batch {
    const part = new Batch();
    const own = this.listRecipients().flatMap((recipients) =>
      recipients.filter((each) => each.work === work),
    );
    for (const recipient of own) part.add(recipient);
    return part;
  }

  toForest(): readonly TokenTree[] {
    return [...this.#trees.values()].map((tree) => ({
      state: tree.state.tokens,
      stateKey: tree.state.key,
      questions: [...tree.questions.values()].map((question) => ({
        tokens: question.node.tokens,
        candidates: [...question.candidates.values()].flatMap(([first]) =>
          first === undefined ? [] : [first.pair.candidate.tokens],
        ),
      })),
    }));
  }

  /** [pairs] in the order of the forest's scores. */
  listRecipients(): readonly (readonly Recipient[])[] {
    return [...this.#trees.values()].flatMap((tree) =>
      [...tree.questions.values()].flatMap((question) => [...question.candidates.values()]),
    );
  }
}
