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
  const sorted = numbersOf(values).sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
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

export function spreadOf(values: readonly number[]): Spread {
  return {
    median: median(values),
    q1: quantile(values, 0.25),
    q3: quantile(values, 0.75),
    min: quantile(values, 0),
    max: quantile(values, 1),
    count: numbersOf(values).length,
  };
}

function numbersOf(values: readonly number[]): number[] {
  return values.filter((value) => !Number.isNaN(value));
}

/** Ratio of two measurements, round by round. */
export function ratios(above: readonly number[], below: readonly number[]): number[] {
  return above.slice(0, below.length).map((value, round) => value / (below[round] ?? Number.NaN));
}

/** Slope of y over x by least squares; 0 with fewer than two points. */
export function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const along = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const square = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return square > 0 ? along / square : 0;
}
