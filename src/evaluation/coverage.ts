import { isRight, type Judged, rightOf } from "./judged.ts";
import { type Proportion, proportion } from "./proportion.ts";

/** What is answered, and how well, if only answers with at least this confidence count. */
export interface CoveragePoint {
  readonly threshold: number;
  /** Of all rows, the share that is answered. */
  readonly coverage: number;
  readonly accuracy: Proportion;
}

/** A point for each confidence that occurs, highest first; the last one answers every row. */
export function coverageCurve(rows: readonly Judged[]): CoveragePoint[] {
  const sorted = rows.toSorted((a, b) => b.confidence - a.confidence);
  const points: CoveragePoint[] = [];
  let right = 0;
  sorted.forEach((row, at) => {
    right += isRight(row) ? 1 : 0;
    if (row.confidence === sorted[at + 1]?.confidence) return; // equal ones are answered together
    points.push({
      threshold: row.confidence,
      coverage: (at + 1) / rows.length,
      accuracy: proportion(right, at + 1),
    });
  });
  return points;
}

/** @param threshold only answers with at least this confidence count */
export function atThreshold(rows: readonly Judged[], threshold: number): CoveragePoint {
  const kept = rows.filter(({ confidence }) => confidence >= threshold);
  return {
    threshold,
    coverage: rows.length === 0 ? 0 : kept.length / rows.length,
    accuracy: proportion(rightOf(kept), kept.length),
  };
}

/**
 * The threshold that keeps most rows while the accuracy on these rows is at least `target`. It lies between two confidences,
 * with as few digits as possible; 0 if all rows are kept.
 *
 * @returns undefined if no threshold reaches the target
 */
export function fitThreshold(rows: readonly Judged[], target: number): number | undefined {
  const points = coverageCurve(rows);
  const last = points.findLastIndex(({ accuracy }) => accuracy.share >= target);
  const above = points[last]?.threshold;
  if (above === undefined) return undefined;
  const below = points[last + 1]?.threshold;
  return below === undefined ? 0 : shortestBetween(below, above);
}

/** The number nearest to the middle with as few digits as lie in (below, above]. */
function shortestBetween(below: number, above: number): number {
  for (let digits = 1; digits <= 16; digits += 1) {
    const number = Number(((below + above) / 2).toFixed(digits));
    if (number > below && number <= above) return number;
  }
  return above;
}
