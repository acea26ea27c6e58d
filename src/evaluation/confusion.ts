import type { Judged } from "./judged.ts";

/** How a label fares. Shares are undefined where they would divide by zero. */
export interface LabelReport {
  readonly label: string;
  /** Rows that have this label. */
  readonly rows: number;
  /** Rows that were answered so. */
  readonly answered: number;
  /** Of the rows answered so, the share that has the label. */
  readonly precision: number | undefined;
  /** Of the rows that have the label, the share answered so. */
  readonly recall: number | undefined;
}

/** Counts as `[truth][answer]`, both in the order of the labels. */
export function confusionMatrix(rows: readonly Judged[], labels: readonly string[]): number[][] {
  const places = new Map(labels.map((label, at) => [label, at]));
  const counts = labels.map(() => labels.map(() => 0));
  for (const { truth, predicted } of rows) {
    const line = counts[places.get(truth) ?? -1];
    const at = places.get(predicted);
    if (line !== undefined && at !== undefined) line[at] = (line[at] ?? 0) + 1;
  }
  return counts;
}

/** @param matrix as `confusionMatrix` gives it */
export function labelReports(
  matrix: readonly (readonly number[])[],
  labels: readonly string[],
): LabelReport[] {
  return labels.map((label, at) => {
    const rows = sum(matrix[at] ?? []);
    const answered = sum(matrix.map((line) => line[at] ?? 0));
    const right = matrix[at]?.[at] ?? 0;
    return { label, rows, answered, precision: share(right, answered), recall: share(right, rows) };
  });
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const share = (part: number, whole: number) => (whole === 0 ? undefined : part / whole);
