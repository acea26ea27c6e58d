import type { Node } from "../nodes.ts";
import type { Pair, RequestWork } from "./request-work.ts";

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
  /** Requests whose last pairs were in the score cache when the batch was formed. */
  readonly answered: RequestWork[] = [];
  #tokenCount = 0;
  #firstPath = 0;
  readonly #nodes = new Map<string, Node>(); // by key, of all levels
  readonly #recipients = new Map<Node, Recipient[]>(); // by leaf

  /** Pairs to compute. */
  get pairCount(): number {
    return this.#recipients.size;
  }

  /** Tokens to compute. Of a request, each state counts only in the first batch that has it. */
  get tokenCount(): number {
    return this.#tokenCount;
  }

  /** The same without the state and question of the first pair. */
  get countedTokens(): number {
    return this.#tokenCount - this.#firstPath;
  }

  /** Tokens that a pair would add; 0 if the batch has it already. */
  costOf({ work, pair }: Recipient): number {
    let cost = 0;
    for (let node: Node | undefined = pair.leaf; node && !this.#nodes.has(node.key); node = node.parent)
      if (!work.hasSent(node)) cost += node.tokens.length;
    return cost;
  }

  add(recipient: Recipient): void {
    const { work, pair } = recipient;
    const cost = this.costOf(recipient);
    if (this.pairCount === 0) this.#firstPath = cost - pair.leaf.tokens.length;
    this.#tokenCount += cost;
    this.requests.add(work);
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

/**
 * Retries a failed batch: each of its requests is computed again in a batch of its own, once. Scores do not depend on the
 * batch, so the other requests are only delayed. The request that caused the failure fails again and gets an error.
 *
 *     batch of a b c d   fails ──▶ a, b, c, d, each a batch of its own, the oldest first
 *     batch of c         fails ──▶ c gets an error
 *
 * Bisecting the batch would need fewer batches but more crashes: one bad request among 32 would crash the process six
 * times instead of twice. Starting a process takes longer than 32 small batches.
 */
export class SecondTries {
  #waiting: readonly Batch[] = [];
  readonly #second = new WeakSet<Batch>();

  /**
   * Adds a failed batch. @returns the requests that get an error: all of a second try, none of a first
   */
  add(failed: Batch): ReadonlySet<RequestWork> {
    if (this.#second.has(failed)) return failed.requests;
    const alone = [...failed.requests].map((work) => failed.partOf(work));
    for (const batch of alone) this.#second.add(batch);
    this.#waiting = [...this.#waiting, ...alone].sort((a, b) => orderOf(a) - orderOf(b));
    return new Set();
  }

  get isPending(): boolean {
    return this.#waiting.length > 0;
  }

  /** The next batch to compute. @param open requests that still wait for an answer; other requests are not computed again */
  next(open: Pick<ReadonlyMap<RequestWork, unknown>, "has">): Batch | undefined {
    const [next, ...others] = this.#waiting.filter(({ requests }) =>
      [...requests].some((work) => open.has(work)),
    );
    this.#waiting = others;
    return next;
  }
}

function orderOf({ requests }: Batch): number {
  return Math.min(...[...requests].map(({ order }) => order));
}
