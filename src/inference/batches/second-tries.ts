import type { Batch } from "./batch.ts";
import type { RequestWork } from "./request-work.ts";

/**
 * Retries a batch that failed: each of its requests is computed again in a batch of its own, once. Scores do not depend on the
 * batch, so the other requests are only delayed. The request that caused the failure fails again and is given up.
 *
 *     batch of a b c d   fails ──▶ a, b, c, d, each a batch of its own, the oldest first
 *     batch of c         fails ──▶ c is given up
 *
 * Halving the batch would need fewer batches but more tries: among 32 requests, one that kills the process would kill it six
 * times instead of twice. Starting a process takes longer than 32 small batches.
 */
export class SecondTries {
  #waiting: readonly Batch[] = [];
  readonly #second = new WeakSet<Batch>();

  /**
   * Takes a failed batch. @returns the requests to give up: all of a second try, none of a first
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

  /** The next batch to compute. @param open requests that still wait for an answer; batches of others are dropped */
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
