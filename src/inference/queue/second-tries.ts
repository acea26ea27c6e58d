import type { Batch } from "./batch.ts";
import type { RequestWork } from "./request-work.ts";

/**
 * What becomes of a batch that failed: each of its requests is computed again alone, once. Scores are pure, so nobody but the one that
 * made it fail notices more than the time; that one fails again, and is given up.
 *
 *     batch of a b c d   fails ──▶ a, b, c, d, each a batch of its own, the oldest first
 *     batch of c         fails ──▶ c is given up
 *
 * Halves would need less small batches, but would try the culprit once for each halving: of 32 requests, one that kills the process
 * would kill it six times and not twice, and a new process takes longer than 32 small batches.
 */
export class SecondTries {
  #waiting: readonly Batch[] = [];
  readonly #second = new WeakSet<Batch>();

  /**
   * Takes a batch that failed. @returns the requests that are not tried a third time: all of a second try, none of a first
   */
  take(failed: Batch): ReadonlySet<RequestWork> {
    if (this.#second.has(failed)) return failed.requests;
    const alone = [...failed.requests].map((work) => failed.partOf(work));
    for (const batch of alone) this.#second.add(batch);
    this.#waiting = [...this.#waiting, ...alone].sort((a, b) => orderOf(a) - orderOf(b));
    return new Set();
  }

  get isPending(): boolean {
    return this.#waiting.length > 0;
  }

  /** The next one to compute. @param open requests that still wait for an answer: those of nobody else are dropped */
  next(open: readonly RequestWork[]): Batch | undefined {
    const alive = new Set(open);
    const [next, ...others] = this.#waiting.filter(({ requests }) =>
      [...requests].some((work) => alive.has(work)),
    );
    this.#waiting = others;
    return next;
  }
}

function orderOf({ requests }: Batch): number {
  return Math.min(...[...requests].map(({ order }) => order));
}
