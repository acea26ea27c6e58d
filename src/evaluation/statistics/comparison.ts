import { isRight, type Judged } from "./judged.ts";
import { type Proportion, proportion } from "./proportion.ts";

/** A comparison of two sets of answers to the same rows. */
export interface Comparison extends PairedTest {
  /** Names of the two questions. */
  readonly first: string;
  readonly second: string;
  readonly firstAccuracy: Proportion;
  readonly secondAccuracy: Proportion;
  /** Whether `p` is below 0.05. */
  readonly isDifferent: boolean;
}

const LEVEL = 0.05;

/** Compares two sets of answers. @param rows answered by both */
export function compare(
  first: string,
  second: string,
  rows: readonly { readonly first: Judged; readonly second: Judged }[],
): Comparison {
  const count = (a: boolean, b: boolean) =>
    rows.filter((row) => isRight(row.first) === a && isRight(row.second) === b).length;
  const both = count(true, true);
  const test = mcnemar(count(true, false), count(false, true));
  return {
    first,
    second,
    firstAccuracy: proportion(both + test.onlyFirst, rows.length),
    secondAccuracy: proportion(both + test.onlySecond, rows.length),
    ...test,
    isDifferent: test.p < LEVEL,
  };
}

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
