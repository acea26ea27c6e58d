/** How the requests of a measurement ended. */
export interface OutcomeCounts {
  /** By HTTP status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Answers that are not what the request asks for, and requests without an answer, by reason. */
  readonly failures: Readonly<Record<string, number>>;
}

export class Outcomes {
  readonly #statuses = new Map<string, number>();
  readonly #failures = new Map<string, number>();

  /** @param failure what is wrong with the answer, if anything */
  answered(status: number, failure: string | undefined): void {
    count(this.#statuses, String(status));
    if (failure !== undefined) this.failed(failure);
  }

  failed(reason: string): void {
    count(this.#failures, reason);
  }

  add(other: Outcomes): void {
    for (const [status, number] of other.#statuses) count(this.#statuses, status, number);
    for (const [reason, number] of other.#failures) count(this.#failures, reason, number);
  }

  counts(): OutcomeCounts {
    return { statuses: Object.fromEntries(this.#statuses), failures: Object.fromEntries(this.#failures) };
  }
}

function count(counts: Map<string, number>, key: string, number = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + number);
}
