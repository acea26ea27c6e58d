import { isRight, type Judged } from "./judged.ts";
import { mcnemar, type PairedTest } from "./mcnemar.ts";
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
