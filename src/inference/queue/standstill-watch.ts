/** Chosen: a process that hangs in a run is killed five seconds after a request's deadline, and gone soon after. */
const BEYOND_DEADLINE_MS = 30_000;

export interface StandstillSigns {
  /** Whether a backend that says it is ready has a batch. */
  readonly hasWork: boolean;
  /** Of all requests that wait or run. */
  readonly deadlines: readonly number[];
}

/**
 * Tells a service that stands still from one that is slow or loads its model again. Each request ends at its deadline, and each
 * batch soon after the deadline at the latest: what is still there much later has been forgotten. Times are on the scheduler's
 * clock, in milliseconds.
 */
export class StandstillWatch {
  readonly #patienceMs: number;
  #progressAt: number;

  constructor(deadlineMs: number, now: number) {
    this.#patienceMs = deadlineMs + BEYOND_DEADLINE_MS;
    this.#progressAt = now;
  }

  /** A batch was sent to an idle backend or has ended, or the model is there again. */
  noteProgress(now: number): void {
    this.#progressAt = now;
  }

  isStuck(now: number, { hasWork, deadlines }: StandstillSigns): boolean {
    if (hasWork && now - this.#progressAt > this.#patienceMs) return true;
    return deadlines.some((deadlineAt) => now - deadlineAt > BEYOND_DEADLINE_MS);
  }
}
