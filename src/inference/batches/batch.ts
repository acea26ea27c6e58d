import { type Node, stateOf } from "../nodes.ts";
import type { Pair } from "./pairs.ts";
import type { RequestWork } from "./request-work.ts";

/** A pair of a request that gets a score. If several recipients have the same pair, only the first is charged for its tokens. */
export interface Recipient {
  readonly work: RequestWork;
  readonly pair: Pair;
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
  #tokenCount = 0;
  #heldTokens = 0;
  #longestPath = 0;
  readonly #nodes = new Map<string, Node>(); // by key, of all levels
  readonly #recipients = new Map<Node, Recipient[]>(); // by leaf

  /** All tokens of its nodes, including those of states that the backend has cached. */
  get allTokens(): number {
    return this.#tokenCount + this.#heldTokens;
  }

  /** Pairs to compute. */
  get pairCount(): number {
    return this.#recipients.size;
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
    const path = cost === 0 ? 0 : cost - recipient.pair.leaf.tokens.length;
    return { tokens: this.#tokenCount + cost, longestPath: Math.max(this.#longestPath, path) };
  }

  /** New tokens that a pair would add; 0 if the batch has it already. */
  costOf({ work, pair }: Recipient): number {
    let cost = 0;
    for (let node: Node | undefined = pair.leaf; node && !this.#nodes.has(node.key); node = node.parent)
      if (!work.holds(node)) cost += node.tokens.length;
    return cost;
  }

  add(recipient: Recipient): void {
    const { work, pair } = recipient;
    const { tokens, longestPath } = this.with(recipient);
    this.#tokenCount = tokens;
    this.#longestPath = longestPath;
    this.requests.add(work);
    const state = stateOf(pair.leaf);
    if (!this.#nodes.has(state.key) && work.holds(state)) this.#heldTokens += state.tokens.length;
    const leaf = this.#own(pair.leaf);
    const recipients = this.#recipients.get(leaf);
    if (recipients === undefined) this.#recipients.set(leaf, [recipient]);
    else recipients.push(recipient);
  }

  /** The batch's node with the key of a node. */
  #own(node: Node): Node {
    const known = this.#nodes.get(node.key);
    if (known !== undefined) return known;
    const parent = node.parent && this.#own(node.parent);
    const own = parent === node.parent ? node : { ...node, parent };
    this.#nodes.set(node.key, own);
    return own;
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

  /** [pairs] for the backend: each once, and nodes with equal keys are one object. */
  leaves(): readonly Node[] {
    return [...this.#recipients.keys()];
  }

  /** [pairs] in the order of the leaves. */
  listRecipients(): readonly (readonly Recipient[])[] {
    return [...this.#recipients.values()];
  }
}
