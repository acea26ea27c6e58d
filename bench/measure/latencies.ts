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

/** Three digits from a microsecond to an hour. */
const HISTOGRAM = {
  lowestDiscernibleValue: 1,
  highestTrackableValue: 3_600_000_000,
  numberOfSignificantValueDigits: 3,
} as const;

const CURVE = [0, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99];

/** Collects latencies in constant memory. */
export class Latencies {
  readonly #histogram: Histogram = build(HISTOGRAM);

  /** @param ms zero or more */
  record(ms: number): void {
    const micros = Math.max(1, Math.round(ms * 1000));
    this.#histogram.recordValue(Math.min(micros, HISTOGRAM.highestTrackableValue));
  }

  get count(): number {
    return this.#histogram.totalCount;
  }

  add(other: Latencies): void {
    this.#histogram.add(other.#histogram);
  }

  summary(): LatencySummary {
    const count = this.count;
    const at = (percentile: number) => {
      // requires at least one request beyond it; the median of one request is that request
      const isBacked = count > 0 && (percentile <= 50 || count * (1 - percentile / 100) >= 1 - 1e-9);
      // a percentile is the upper end of its bucket, which may exceed the maximum
      const micros = Math.min(this.#histogram.getValueAtPercentile(percentile), this.#histogram.maxValue);
      return isBacked ? micros / 1000 : null;
    };
    return {
      count,
      p50: at(50),
      p90: at(90),
      p99: at(99),
      p999: at(99.9),
      max: count > 0 ? this.#histogram.maxValue / 1000 : null,
      curve: CURVE.flatMap((percentile) => {
        const ms = at(percentile);
        return ms === null ? [] : [{ percentile, ms }];
      }),
    };
  }
}
