import { atThreshold, type CoveragePoint, fitThreshold } from "./coverage.ts";
import type { Judged } from "./judged.ts";
import { type Proportion, proportion } from "./proportion.ts";

const FOLDS = 5;
/** Chosen: below, a fold is left with fewer than four rows. */
export const MIN_ROWS = 20;

/** What a threshold does on rows that it was not fitted to. */
export interface HeldOut {
  readonly folds: number;
  readonly coverage: number;
  readonly accuracy: Proportion;
}

/**
 * Fits a threshold to four fifths of the rows and checks it on the others, five times, so that each row is checked once. Rows with
 * the same state are in the same fold. The order of the rows does not matter.
 *
 * @returns undefined with fewer than MIN_ROWS different states
 */
export function crossValidate(rows: readonly Judged[], target: number): HeldOut | undefined {
  const keys = [...new Set(rows.map(({ key }) => key))].sort();
  if (keys.length < MIN_ROWS) return undefined;
  const folds = new Map(keys.map((key, at) => [key, at % FOLDS]));
  const checks = Array.from({ length: FOLDS }, (_, fold): CoveragePoint => {
    const threshold = fitThreshold(
      rows.filter(({ key }) => folds.get(key) !== fold),
      target,
    );
    const others = rows.filter(({ key }) => folds.get(key) === fold);
    return atThreshold(others, threshold ?? Number.POSITIVE_INFINITY);
  });
  const right = checks.reduce((sum, { accuracy }) => sum + accuracy.right, 0);
  const kept = checks.reduce((sum, { accuracy }) => sum + accuracy.count, 0);
  return { folds: FOLDS, coverage: kept / rows.length, accuracy: proportion(right, kept) };
}
