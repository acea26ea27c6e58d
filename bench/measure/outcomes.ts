/** How the requests of a measurement ended. */
export interface OutcomeCounts {
  /** By HTTP status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Wrong answers and requests without an answer, by reason. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Reason of requests without an answer in time. */
export const NO_ANSWER = "no answer in time";
/** Reason of requests that were not sent, because too many had no answer yet. */
export const NOT_SENT = "not sent: too many requests in progress";
/** Reason of correct refusals, which count in the statuses and not as failures. */
export const TOO_LONG = "too long for the served model";

export class Outcomes {
  readonly #statuses = new Map<string, number>();
  readonly #failures = new Map<string, number>();

  /** Number of answers, correct or not. */
  get answers(): number {
    return [...this.#statuses.values()].reduce((sum, number) => sum + number, 0);
  }

  /** @param failure fault of the answer, if any */
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
