import { ServiceError } from "../../errors.ts";

/** A call that waits to be admitted. */
interface Waiter {
  readonly enter: () => void;
}

/**
 * Admits a bounded number of calls to the engine's queue, in order of arrival, so that a program may make any number
 * at once.
 *
 * A call that the engine refuses because its queue is full is retried when an earlier call has ended. If no call is in
 * progress, it fails.
 */
export class WaitingLine {
  readonly #places: number;
  readonly #waiters: Waiter[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  #running = 0;
  #isClosed = false;

  /** @param places the most calls in the engine at the same time */
  constructor(places: number) {
    this.#places = places;
  }

  /** @throws what `call` throws; ServiceError CANCELLED once `signal` is aborted | DRAINING after `close` */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#isClosed) throw new ServiceError("DRAINING", "This decider has been closed.");
    const running = this.#run(call, signal);
    this.#underWay.add(running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(running);
    }
  }

  /** Waits for the calls in progress. Later ones are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#underWay);
  }

  async #run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let isAgain = false; ; isAgain = true) {
      await this.#enter(signal, isAgain);
      try {
        const result = await call();
        this.#leave(2); // after refusals, more calls may be admitted again
        return result;
      } catch (error) {
        const isRefused = isFull(error) && this.#running > 1;
        this.#leave(isRefused ? 0 : 2);
        if (!isRefused) throw error;
      }
    }
  }

  #enter(signal: AbortSignal, isAgain: boolean): Promise<void> {
    if (signal.aborted) return Promise.reject(cancelled(signal));
    if (!isAgain && this.#running < this.#places) {
      this.#running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(cancelled(signal));
      };
      const waiter = {
        enter: () => {
          signal.removeEventListener("abort", onAbort);
          this.#running += 1;
          resolve();
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      if (isAgain) this.#waiters.unshift(waiter);
      else this.#waiters.push(waiter);
    });
  }

  /** @param most the most waiting calls to admit instead of this one */
  #leave(most: number): void {
    this.#running -= 1;
    for (let entered = 0; entered < most && this.#running < this.#places; entered++) {
      const next = this.#waiters.shift();
      if (next === undefined) return;
      next.enter();
    }
  }
}

const isFull = (error: unknown) =>
  error instanceof ServiceError && (error.kind === "QUEUE_FULL" || error.kind === "OVERLOADED");

/** The error of a call that its caller aborted. Its cause is the signal's reason. */
export function cancelled(signal: AbortSignal): ServiceError {
  return new ServiceError("CANCELLED", "The caller has aborted the call.", { cause: signal.reason });
}

/** A separate signal for each call, since a caller may pass one signal to many calls, each of which adds listeners. */
export function ownSignal(given: AbortSignal | undefined): AbortSignal {
  return given === undefined ? new AbortController().signal : AbortSignal.any([given]);
}
