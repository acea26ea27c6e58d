/** How the requests of a measurement ended. */
export interface OutcomeCounts {
  /** By HTTP status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Answers that are not what the request asks for, and requests without an answer, by reason. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Of requests whose answers were waited for in vain. */
export const NO_ANSWER = "no answer in time";
/** Of requests that the bench kept to itself, since too many were without an answer. */
export const NOT_SENT = "not sent: too many under way";
/** Of right refusals: in the statuses, and no failure. */
export const TOO_LONG = "too long for the served model";

export class Outcomes {
  readonly #statuses = new Map<string, number>();
  readonly #failures = new Map<string, number>();

  /** Requests that were answered, rightly or not. */
  get answers(): number {
    return [...this.#statuses.values()].reduce((sum, number) => sum + number, 0);
  }

  /** @param failure what is wrong with the answer, if anything */
  answered(status: number, failure: string | undefined): void {
    count(this.#statuses, String(status));
    if (failure !== undefined && failure !== TOO_LONG) this.failed(failure);
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

/** Failures of several measurements together. */
export function sumOfFailures(parts: readonly OutcomeCounts["failures"][]): OutcomeCounts["failures"] {
  const sum = new Map<string, number>();
  for (const part of parts) for (const [reason, number] of Object.entries(part)) count(sum, reason, number);
  return Object.fromEntries(sum);
}

function count(counts: Map<string, number>, key: string, number = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + number);
}
