/** Quantile of the standard normal distribution for two-sided 95 %. */
const Z = 1.959963984540054;

/** A share of rows, with its 95 % confidence interval. */
export interface Proportion {
  readonly right: number;
  readonly count: number;
  /** `right / count`; 0 without rows. */
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/**
 * A share with its Wilson score interval (95 %, without continuity correction). Without rows the interval is 0 to 1.
 *
 * @see Wilson 1927; Newcombe 1998, Statistics in Medicine 17, method 3
 */
export function proportion(right: number, count: number): Proportion {
  if (count === 0) return { right, count, share: 0, low: 0, high: 1 };
  const share = right / count;
  const scale = 1 + Z ** 2 / count;
  const middle = (share + Z ** 2 / (2 * count)) / scale;
  const half = (Z / scale) * Math.sqrt((share * (1 - share)) / count + Z ** 2 / (4 * count ** 2));
  return {
    right,
    count,
    share,
    low: right === 0 ? 0 : Math.max(0, middle - half),
    high: right === count ? 1 : Math.min(1, middle + half),
  };
}

/** The fewest rows, all of them right, whose interval lies above `target`: `n / (n + z^2) >= target`. */
export function rowsToShow(target: number): number {
  return Math.ceil((target * Z ** 2) / (1 - target));
}
