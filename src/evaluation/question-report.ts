import { type Calibration, calibration } from "./calibration.ts";
import { confusionMatrix, type LabelReport, labelReports } from "./confusion.ts";
import { atThreshold, type CoveragePoint, coverageCurve, fitThreshold } from "./coverage.ts";
import { crossValidate, type HeldOut, MIN_ROWS } from "./cross-validation.ts";
import { type Judged, rightOf } from "./judged.ts";
import { type Proportion, proportion, rowsToShow } from "./proportion.ts";

/** Chosen: below, one row moves precision and recall by more than ten points. */
const FEW_ROWS = 10;
/** Of a curve; chosen. */
const MAX_POINTS = 200;
/** Thresholds of the table; chosen. */
const STEPS = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];

/** How well a question is answered on labelled rows. */
export interface QuestionReport {
  readonly name: string;
  readonly labels: readonly LabelReport[];
  /** `[truth][answer]`, in the order of `labels`. */
  readonly confusion: readonly (readonly number[])[];
  readonly accuracy: Proportion;
  readonly calibration: Calibration;
  /** Of a score: mean distance of the expected level from the labelled one. */
  readonly meanAbsoluteError: number | undefined;
  /** At most 201 points, from the most confident answers to all rows. */
  readonly curve: readonly CoveragePoint[];
  /** What round thresholds keep; those that keep something, without repetition. */
  readonly steps: readonly CoveragePoint[];
  /** Accuracy that the threshold is to reach. */
  readonly target: number;
  /** Fitted to all rows, and what it does on these; undefined if the target is out of reach. */
  readonly chosen: CoveragePoint | undefined;
  /** What thresholds fitted in this way do on other rows; undefined with too few rows. */
  readonly heldOut: HeldOut | undefined;
  /** What the figures do not show, in sentences. */
  readonly notes: readonly string[];
}

/**
 * @param rows at least one
 * @param labels all labels of the question, in its order
 * @param target accuracy to reach, above 0 and below 1
 */
export function reportQuestion(
  name: string,
  rows: readonly Judged[],
  labels: readonly string[],
  target: number,
): QuestionReport {
  const confusion = confusionMatrix(rows, labels);
  const threshold = fitThreshold(rows, target);
  const figures = {
    name,
    labels: labelReports(confusion, labels),
    confusion,
    accuracy: proportion(rightOf(rows), rows.length),
    calibration: calibration(rows),
    meanAbsoluteError: meanAbsoluteError(rows),
    curve: thinned(coverageCurve(rows)),
    steps: stepsOf(rows),
    target,
    chosen: threshold === undefined ? undefined : atThreshold(rows, threshold),
    heldOut: crossValidate(rows, target),
  };
  return { ...figures, notes: notesOn(figures) };
}

function stepsOf(rows: readonly Judged[]): CoveragePoint[] {
  return STEPS.map((threshold) => atThreshold(rows, threshold)).filter(
    ({ accuracy: { count } }, at, all) => count > 0 && count !== all[at - 1]?.accuracy.count,
  );
}

/** Evenly chosen points; always the last one. */
function thinned(points: readonly CoveragePoint[]): CoveragePoint[] {
  const step = Math.ceil(points.length / MAX_POINTS);
  return points.filter((_, at) => (points.length - 1 - at) % step === 0);
}

function meanAbsoluteError(rows: readonly Judged[]): number | undefined {
  const distances = rows.flatMap(({ truth, expectedLevel }) =>
    expectedLevel === undefined ? [] : [Math.abs(expectedLevel - Number(truth))],
  );
  if (distances.length === 0) return undefined;
  return distances.reduce((sum, one) => sum + one, 0) / distances.length;
}

function notesOn({ labels, accuracy, target, chosen, heldOut }: Omit<QuestionReport, "notes">): string[] {
  const notes: string[] = [];
  const aim = `${round(100 * target)} %`;
  const needed = rowsToShow(target);
  if (accuracy.count < needed)
    notes.push(
      `Too few rows: ${accuracy.count}. Even if every answer were right, showing ${aim} takes ${needed}.`,
    );
  const rare = labels.filter(({ rows }) => rows < FEW_ROWS).map(({ label, rows }) => `${label} (${rows})`);
  if (rare.length > 0)
    notes.push(`Fewer than ${FEW_ROWS} rows of: ${rare.join(", ")}. Precision and recall say little there.`);
  if (chosen === undefined) notes.push(`No threshold reaches ${aim} on these rows.`);
  if (heldOut === undefined)
    notes.push(`Fewer than ${MIN_ROWS} different states: the threshold is not checked on other rows.`);
  else if (chosen !== undefined && heldOut.accuracy.count === 0)
    notes.push("On rows that it was not fitted to, the threshold keeps none.");
  else if (chosen !== undefined && heldOut.accuracy.share < target)
    notes.push(`On rows that it was not fitted to, the threshold misses ${aim}.`);
  else if (chosen !== undefined && heldOut.accuracy.low < target)
    notes.push(`${aim} is reached, but not shown: the interval begins below. More rows narrow it.`);
  return notes;
}

const round = (value: number) => Number(value.toFixed(2));
