/** Time after a deadline without progress. A hung inference process is killed earlier, five seconds after a request's deadline. A judgement. */
const BEYOND_DEADLINE_MS = 30_000;

export interface StandstillSigns {
  /** Whether a backend that says it is ready has a batch. */
  readonly hasWork: boolean;
  /** Deadlines of all requests that wait or run. */
  readonly deadlines: readonly number[];
}

/**
 * Tells a service that has stopped working from one that is slow or reloads its model. Each request ends at its deadline, and each
 * batch soon after it. One that is still there much later will never end. Times are on the scheduler's clock, in
 * milliseconds.
 */
export class StandstillWatch {
  readonly #patienceMs: number;
  #progressAt: number;

  constructor(deadlineMs: number, now: number) {
    this.#patienceMs = deadlineMs + BEYOND_DEADLINE_MS;
    this.#progressAt = now;
  }

  /** To be called when a batch is sent to an idle backend, when one ends, and when the model is loaded again. */
  noteProgress(now: number): void {
    this.#progressAt = now;
  }

  isStuck(now: number, { hasWork, deadlines }: StandstillSigns): boolean {
    if (hasWork && now - this.#progressAt > this.#patienceMs) return true;
    return deadlines.some((deadlineAt) => now - deadlineAt > BEYOND_DEADLINE_MS);
  }
}
