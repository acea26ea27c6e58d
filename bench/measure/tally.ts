import { build, type Histogram } from "hdr-histogram-js";

/** Latencies of one measurement in milliseconds. A percentile is null if there are too few requests. */
export interface LatencySummary {
  readonly count: number;
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p99: number | null;
  readonly p999: number | null;
  readonly max: number | null;
  /** Percentiles for charts, from the median to the highest that the count supports. */
  readonly curve: readonly { readonly percentile: number; readonly ms: number }[];
}

/** Numbers of requests by the reason of their failure. */
export type Failures = Readonly<Record<string, number>>;

/** How the requests of a measurement ended. */
export interface OutcomeCounts {
  /** By HTTP status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Wrong answers and requests without an answer. */
  readonly failures: Failures;
}

/** Reason of requests without an answer in time. */
export const NO_ANSWER = "no answer in time";
/** Reason of requests that were not sent, because too many had no answer yet. */
export const NOT_SENT = "not sent: too many requests in progress";
/** Reason of correct refusals, which make no run fail. */
export const TOO_LONG = "too long for the served model";

/** Three digits from a microsecond to an hour. */
const HISTOGRAM = {
  lowestDiscernibleValue: 1,
  highestTrackableValue: 3_600_000_000,
  numberOfSignificantValueDigits: 3,
} as const;

const CURVE = [0, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99];

/** Collects how requests end, and the latencies of correct answers, in constant memory. */
export class Tally {
  readonly #histogram: Histogram = build(HISTOGRAM);
  readonly #statuses = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  /** Number of answers, correct or not. */
  answers = 0;
  /** Number of requests without an answer. */
  lost = 0;

  /** @param ms latency of a correct answer */
  record(ms: number): void {
    const micros = Math.max(1, Math.round(ms * 1000));
    this.#histogram.recordValue(Math.min(micros, HISTOGRAM.highestTrackableValue));
  }

  /** @param fault fault of the answer, if any */
  answered(status: number, fault: string | undefined): void {
    this.answers += 1;
    count(this.#statuses, String(status), 1);
    if (fault !== undefined) count(this.#failures, fault, 1);
  }

  failed(reason: string): void {
    this.lost += 1;
    count(this.#failures, reason, 1);
  }

  add(other: Tally): void {
    this.#histogram.add(other.#histogram);
    this.answers += other.answers;
    this.lost += other.lost;
    for (const [status, number] of other.#statuses) count(this.#statuses, status, number);
    for (const [reason, number] of other.#failures) count(this.#failures, reason, number);
  }

  counts(): OutcomeCounts {
    return { statuses: Object.fromEntries(this.#statuses), failures: Object.fromEntries(this.#failures) };
  }

  latency(): LatencySummary {
    const { totalCount, maxValue } = this.#histogram;
    const at = (percentile: number) => {
      // requires at least one request beyond it; the median of one request is that request
      const isBacked =
        totalCount > 0 && (percentile <= 50 || totalCount * (1 - percentile / 100) >= 1 - 1e-9);
      // a percentile is the upper end of its bucket, which may exceed the maximum
      return isBacked ? Math.min(this.#histogram.getValueAtPercentile(percentile), maxValue) / 1000 : null;
    };
    return {
      count: totalCount,
      p50: at(50),
      p90: at(90),
      p99: at(99),
      p999: at(99.9),
      max: totalCount > 0 ? maxValue / 1000 : null,
      curve: CURVE.flatMap((percentile) => {
        const ms = at(percentile);
        return ms === null ? [] : [{ percentile, ms }];
      }),
    };
  }
}

function count(counts: Map<string, number>, key: string, number: number): void {
  counts.set(key, (counts.get(key) ?? 0) + number);
}

/** Failures of several measurements together. */
export function sumOfFailures(parts: readonly Failures[]): Failures {
  const sum = new Map<string, number>();
  for (const part of parts) for (const [reason, number] of Object.entries(part)) count(sum, reason, number);
  return Object.fromEntries(sum);
}
