import { ServiceError } from "../../errors.ts";

/** A call that waits for a place. */
interface Waiter {
  readonly enter: () => void;
}

/**
 * Lets a bounded number of calls into the queue of the engine, in order of arrival, so that a program may make any number at once.
 *
 * A call that the engine refuses because too much waits there is tried again when a call before it has ended. Where none is
 * left to end, the refusal stands.
 */
export class WaitingLine {
  readonly #places: number;
  readonly #waiters: Waiter[] = [];
  #running = 0;

  /** @param places calls that may be in the engine at the same time */
  constructor(places: number) {
    this.#places = places;
  }

  /** @throws what `call` throws; ServiceError CANCELLED once `signal` is aborted */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let isAgain = false; ; isAgain = true) {
      await this.#enter(signal, isAgain);
      try {
        const result = await call();
        this.#leave(2); // after refusals there is room for more again
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

  /** @param most calls that are let in for this one at most */
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

/** The error of a call whose caller has aborted it. Its cause is the signal's reason. */
export function cancelled(signal: AbortSignal): ServiceError {
  return new ServiceError("CANCELLED", "The caller has aborted the call.", { cause: signal.reason });
}

/** A call's own signal: a caller may give one to any number of calls, which each add listeners. */
export function ownSignal(given: AbortSignal | undefined): AbortSignal {
  return given === undefined ? new AbortController().signal : AbortSignal.any([given]);
}
