import { type Calibration, calibration } from "./statistics/calibration.ts";
import { confusionMatrix, type LabelReport, labelReports } from "./statistics/confusion.ts";
import { atThreshold, type CoveragePoint, coverageCurve, fitThreshold } from "./statistics/coverage.ts";
import { crossValidate, type HeldOut, MIN_ROWS } from "./statistics/cross-validation.ts";
import { type Judged, rightOf } from "./statistics/judged.ts";
import { type Proportion, proportion, rowsToShow } from "./statistics/proportion.ts";

/**
 * Labels with fewer rows are noted. Chosen: below ten, one row changes precision and recall by more than ten percentage
 * points.
 */
const FEW_ROWS = 10;
/** The most points of a curve. Chosen: more cannot be seen at the width of a page. */
const MAX_POINTS = 200;
/** Thresholds of the table. Chosen: closer together near 1, where most confidences are. */
const STEPS = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];

/** The evaluation of a question on labelled rows. */
export interface QuestionReport {
  readonly name: string;
  readonly labels: readonly LabelReport[];
  /** `[truth][answer]`, in the order of `labels`. */
  readonly confusion: readonly (readonly number[])[];
  readonly accuracy: Proportion;
  readonly calibration: Calibration;
  /** Mean absolute difference between expected and labelled level; undefined for other types. */
  readonly meanAbsoluteError: number | undefined;
  /** At most 201 points, from the most confident answer to all rows. */
  readonly curve: readonly CoveragePoint[];
  /** The points of round thresholds that keep any rows, without duplicates. */
  readonly steps: readonly CoveragePoint[];
  /** Target accuracy of the threshold. */
  readonly target: number;
  /** The threshold fitted to all rows, with its figures on these; undefined if no threshold reaches the target. */
  readonly chosen: CoveragePoint | undefined;
  /** Cross-validated figures of the threshold; undefined with too few rows. */
  readonly heldOut: HeldOut | undefined;
  /** Limitations of the figures, as sentences. */
  readonly notes: readonly string[];
}

/**
 * Evaluates a question. @param rows at least one
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

/** Evenly spaced points, including the last one. */
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
      `Too few rows: ${accuracy.count}. Even if every answer were right, proving ${aim} would take ${needed}.`,
    );
  const rare = labels.filter(({ rows }) => rows < FEW_ROWS).map(({ label, rows }) => `${label} (${rows})`);
  if (rare.length > 0)
    notes.push(
      `Labels with fewer than ${FEW_ROWS} rows: ${rare.join(", ")}. Their precision and recall are unreliable.`,
    );
  if (chosen === undefined) notes.push(`No threshold reaches ${aim} on these rows.`);
  if (heldOut === undefined)
    notes.push(`Fewer than ${MIN_ROWS} different states: the threshold is not cross-validated.`);
  else if (chosen !== undefined && heldOut.accuracy.count === 0)
    notes.push("In cross-validation, the threshold keeps no rows.");
  else if (chosen !== undefined && heldOut.accuracy.share < target)
    notes.push(`In cross-validation, the threshold misses ${aim}.`);
  else if (chosen !== undefined && heldOut.accuracy.low < target)
    notes.push(
      `${aim} is reached, but not with 95 % confidence: the interval begins below. More rows narrow it.`,
    );
  return notes;
}

const round = (value: number) => Number(value.toFixed(2));
