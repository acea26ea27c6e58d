import type { Evaluation } from "./evaluation.ts";
import type { QuestionReport } from "./question-report.ts";
import type { Comparison } from "./statistics/comparison.ts";
import type { LabelReport } from "./statistics/confusion.ts";
import type { Proportion } from "./statistics/proportion.ts";
import type { CheckedFigure } from "./threshold-file.ts";

/** "93.3 %", or "-" for undefined. */
export const percent = (share: number | undefined) =>
  share === undefined ? "-" : `${(100 * share).toFixed(1)} %`;

/** "93.3 % (87.1 to 96.7), 112 of 120". */
export function proportionText({ share, low, high, right, count }: Proportion): string {
  if (count === 0) return "no rows";
  return `${percent(share)} (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)}), ${right} of ${count}`;
}

/** Sentences that describe the threshold. */
export function thresholdSentences({ chosen, heldOut, target, accuracy }: QuestionReport): string[] {
  const aim = `${Number((100 * target).toFixed(2))} %`;
  if (chosen === undefined) return [];
  const kept = `keeps ${percent(chosen.coverage)} (${chosen.accuracy.count} of ${accuracy.count} rows)`;
  const found = `${aim}: answer at confidence >= ${chosen.threshold}; ${kept}, right in ${proportionText(chosen.accuracy)}`;
  if (heldOut === undefined) return [found];
  return [
    found,
    `cross-validated (${heldOut.folds} folds): keeps ${percent(heldOut.coverage)}, right in ${proportionText(heldOut.accuracy)}`,
  ];
}

/** A head and rows of cells, as the terminal and the page show them. */
export type Table = readonly [head: readonly string[], rows: readonly (readonly string[])[]];

export function labelTable({ labels }: QuestionReport): Table {
  const rows = labels.map((one) => [
    one.label,
    String(one.rows),
    String(one.answered),
    percent(one.precision),
    percent(one.recall),
  ]);
  return [["label", "rows", "answered", "precision", "recall"], rows];
}

export function thresholdTable({ steps }: QuestionReport): Table {
  const rows = steps.map(({ threshold, coverage, accuracy }) => {
    return [String(threshold), percent(coverage), proportionText(accuracy)];
  });
  return [["confidence >=", "kept", "right"], rows];
}

/** Confused labels and answers, most frequent first. */
export function confusions(labels: readonly LabelReport[], matrix: QuestionReport["confusion"]) {
  return labels
    .flatMap(({ label }, truth) =>
      labels.map((other, answer) => ({
        truth: label,
        answer: other.label,
        count: truth === answer ? 0 : (matrix[truth]?.[answer] ?? 0),
      })),
    )
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
}

export const FIGURE_NAMES: Readonly<Record<CheckedFigure["what"], string>> = {
  accuracy: "accuracy",
  coverage: "rows kept",
  keptAccuracy: "accuracy of rows kept",
};

/** "no significant difference (p = 0.22)", or which is better. */
export function verdict({ isDifferent, p, onlyFirst, onlySecond }: Comparison): string {
  const shown = `p = ${p < 0.001 ? p.toExponential(1) : p.toFixed(3)}`;
  if (!isDifferent) return `no significant difference (${shown})`;
  return `the ${onlyFirst > onlySecond ? "first" : "second"} is better (${shown})`;
}

export function errorsText({ errors }: Pick<Evaluation, "errors">): string[] {
  const [first] = errors;
  if (first === undefined) return [];
  const rows = errors.length === 1 ? "1 row" : `${errors.length} rows`;
  return [`${rows} without an answer, not counted; the first is row ${first.row}: ${first.message}`];
}
