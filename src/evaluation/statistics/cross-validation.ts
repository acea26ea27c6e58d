import { atThreshold, type CoveragePoint, fitThreshold } from "./coverage.ts";
import type { Judged } from "./judged.ts";
import { type Proportion, proportion } from "./proportion.ts";

export const FOLDS = 5;
/** The fewest different states. Chosen: with fewer, a fold would have fewer than four rows. */
export const MIN_ROWS = 20;

/** Coverage and accuracy of a threshold on held-out rows. */
export interface HeldOut {
  readonly folds: number;
  readonly coverage: number;
  readonly accuracy: Proportion;
}

/**
 * The fold of each row, the same for rows with the same state, whatever the order of the rows.
 *
 * @returns [rows] numbers below FOLDS; undefined if there are fewer than MIN_ROWS different states
 */
export function foldsOf(rows: readonly { readonly key: string }[]): readonly number[] | undefined {
  const keys = [...new Set(rows.map(({ key }) => key))].sort();
  if (keys.length < MIN_ROWS) return undefined;
  const folds = new Map(keys.map((key, at) => [key, at % FOLDS]));
  return rows.map(({ key }) => folds.get(key) ?? 0);
}

/**
 * Five-fold cross-validation of a threshold.
 *
 * @returns undefined if there are fewer than MIN_ROWS different states
 */
export function crossValidate(rows: readonly Judged[], target: number): HeldOut | undefined {
  const folds = foldsOf(rows);
  if (folds === undefined) return undefined;
  const checks = Array.from({ length: FOLDS }, (_, fold): CoveragePoint => {
    const threshold = fitThreshold(
      rows.filter((_, at) => folds[at] !== fold),
      target,
    );
    const others = rows.filter((_, at) => folds[at] === fold);
    return atThreshold(others, threshold ?? Number.POSITIVE_INFINITY);
  });
  const right = checks.reduce((sum, { accuracy }) => sum + accuracy.right, 0);
  const kept = checks.reduce((sum, { accuracy }) => sum + accuracy.count, 0);
  return { folds: FOLDS, coverage: kept / rows.length, accuracy: proportion(right, kept) };
}
