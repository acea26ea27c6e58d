/** The result of a paired test: two sets of answers, compared on the rows on which only one is right. */
export interface PairedTest {
  readonly onlyFirst: number;
  readonly onlySecond: number;
  /** Two-sided p-value: the probability of a split at least as uneven if both were equally good. */
  readonly p: number;
}

/**
 * The exact McNemar test, two-sided: a sign test on the rows on which only one of two is right.
 *
 * @see McNemar 1947, Psychometrika 12
 */
export function mcnemar(onlyFirst: number, onlySecond: number): PairedTest {
  const count = onlyFirst + onlySecond;
  const fewer = Math.min(onlyFirst, onlySecond);
  let logTerm = -count * Math.LN2; // log probability of 0 out of `count`; logarithms, because 2^-1100 underflows
  let tail = 0;
  for (let k = 0; k <= fewer; k += 1) {
    tail += Math.exp(logTerm);
    logTerm += Math.log((count - k) / (k + 1));
  }
  return { onlyFirst, onlySecond, p: Math.min(1, 2 * tail) };
}
