import type { Judged } from "./judged.ts";

/** Figures of a label. Shares are undefined if their denominator is zero. */
export interface LabelReport {
  readonly label: string;
  /** Rows that have this label. */
  readonly rows: number;
  /** Rows with this answer. */
  readonly answered: number;
  /** Share of the rows with this answer that have the label. */
  readonly precision: number | undefined;
  /** Share of the rows with the label that have this answer. */
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

/** Precision and recall of each label. @param matrix from `confusionMatrix` */
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
