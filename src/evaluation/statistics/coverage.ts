import { isRight, type Judged, rightOf } from "./judged.ts";
import { type Proportion, proportion } from "./proportion.ts";

/** Coverage and accuracy if only answers with at least this confidence count. */
export interface CoveragePoint {
  readonly threshold: number;
  /** Share of all rows that have an answer with at least this confidence. */
  readonly coverage: number;
  readonly accuracy: Proportion;
}

/** One point per distinct confidence, highest first. The last point includes every row. */
export function coverageCurve(rows: readonly Judged[]): CoveragePoint[] {
  const sorted = rows.toSorted((a, b) => b.confidence - a.confidence);
  const points: CoveragePoint[] = [];
  let right = 0;
  sorted.forEach((row, at) => {
    right += isRight(row) ? 1 : 0;
    if (row.confidence === sorted[at + 1]?.confidence) return; // rows of equal confidence belong to one point
    points.push({
      threshold: row.confidence,
      coverage: (at + 1) / rows.length,
      accuracy: proportion(right, at + 1),
    });
  });
  return points;
}

/** The point of one threshold. @param threshold only answers with at least this confidence count */
export function atThreshold(rows: readonly Judged[], threshold: number): CoveragePoint {
  const kept = rows.filter(({ confidence }) => confidence >= threshold);
  return {
    threshold,
    coverage: rows.length === 0 ? 0 : kept.length / rows.length,
    accuracy: proportion(rightOf(kept), kept.length),
  };
}

/**
 * The threshold with the largest coverage whose accuracy is at least `target`. It lies between two confidences and has
 * as few digits as possible; 0 if it keeps all rows.
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

/** The number in (below, above] with the fewest digits, nearest to the middle. */
function shortestBetween(below: number, above: number): number {
  for (let digits = 1; digits <= 16; digits += 1) {
    const number = Number(((below + above) / 2).toFixed(digits));
    if (number > below && number <= above) return number;
  }
  return above;
}
