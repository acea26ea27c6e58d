/** One number of a report, with its rounds. */
export interface Measurement {
  /** Stable name, used by `--compare`. */
  readonly name: string;
  readonly title: string;
  readonly unit: "x" | "%" | "ms" | "s" | "pairs/s" | "decisions/s" | "tokens/s" | "requests/s" | "MiB";
  readonly better: "higher" | "lower";
  /** The median of the rounds. */
  readonly value: number;
  readonly spread: Spread;
  /** One value for each round. */
  readonly rounds: readonly number[];
}

/** A median with its quartiles and extremes. */
export interface Spread {
  readonly median: number;
  readonly q1: number;
  readonly q3: number;
  readonly min: number;
  readonly max: number;
  /** Number of values, without NaN (a round without a correct answer). */
  readonly count: number;
}

export function measurement(
  facts: Pick<Measurement, "name" | "title" | "unit" | "better">,
  rounds: readonly number[],
): Measurement {
  const [min = 0, q1 = 0, median = 0, q3 = 0, max = 0] = [0, 0.25, 0.5, 0.75, 1].map((share) =>
    quantile(rounds, share),
  );
  const count = rounds.filter((value) => !Number.isNaN(value)).length;
  return { ...facts, value: median, spread: { median, q1, q3, min, max, count }, rounds };
}

/** The median; NaN without values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/**
 * The quantile of the values, linear between neighbours. NaN values are ignored.
 *
 * @param share from 0 to 1
 * @returns NaN without values
 * @see Hyndman and Fan 1996, type 7
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

/** Slope of y over x by least squares; 0 with fewer than two points. */
export function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const along = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const square = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return square > 0 ? along / square : 0;
}
