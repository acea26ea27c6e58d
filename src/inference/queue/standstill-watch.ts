/** Time without progress after a deadline. A hung inference process is killed earlier, five seconds after a request's deadline. Chosen. */
const BEYOND_DEADLINE_MS = 30_000;

export interface StandstillSigns {
  /** Whether the backend is ready and has a batch. */
  readonly hasWork: boolean;
  /** Deadlines of all waiting and running requests. */
  readonly deadlines: readonly number[];
}

/**
 * Distinguishes a service that is stuck from one that is slow or reloads its model. Each request ends at its deadline, and
 * each batch soon after it. One that still exists much later will never end. Times are on the scheduler's clock, in
 * milliseconds.
 */
export class StandstillWatch {
  readonly #patienceMs: number;
  #progressAt: number;

  constructor(deadlineMs: number, now: number) {
    this.#patienceMs = deadlineMs + BEYOND_DEADLINE_MS;
    this.#progressAt = now;
  }

  /** Call when a batch is sent to an idle backend, when a batch ends, and when the model has been reloaded. */
  noteProgress(now: number): void {
    this.#progressAt = now;
  }

  isStuck(now: number, { hasWork, deadlines }: StandstillSigns): boolean {
    if (hasWork && now - this.#progressAt > this.#patienceMs) return true;
    return deadlines.some((deadlineAt) => now - deadlineAt > BEYOND_DEADLINE_MS);
  }
}
