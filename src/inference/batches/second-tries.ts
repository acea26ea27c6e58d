import type { Batch } from "./batch.ts";
import type { RequestWork } from "./request-work.ts";

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
