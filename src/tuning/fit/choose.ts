import { calibration } from "../../evaluation/calibration.ts";
import { corrected } from "../correction.ts";
import type { TuningFigures } from "../tuning-file.ts";
import { type Fitted, fitCorrection, type Strength, type TuningRow } from "./fit.ts";

export type TuningKind = "scale" | "head";

const FOLDS = 5;
/** As for thresholds: below, a fold is left with fewer than four rows. */
export const MIN_STATES = 20;

/** Strengths that are tried, the strongest first: a logit is expected to change by a tenth, ... by five. Chosen. */
const SCALES = [100, 30, 10, 3, 1, 0.3];
const HEADS = [100, 30, 10, 3, 1, 0.3, 0.1, 0.03];

/** What was found for a question. */
export interface TuningChoice {
  readonly kind: TuningKind;
  readonly fitted: Fitted;
  readonly rows: number;
  /** 0: not measured, there are too few states. */
  readonly folds: number;
  readonly before: TuningFigures;
  /** On rows that a correction of this kind and strength was not fitted to; as `before` where not measured. */
  readonly after: TuningFigures;
  /** Mean and standard error of what a row's log loss gains, on those rows. */
  readonly gain: { readonly mean: number; readonly error: number };
  /** Whether it is worth serving. */
  readonly isBetter: boolean;
}

/** A gain below this many standard errors may be chance. Chosen by measurement: docs/tuning.md. */
const SURE = 1;

/**
 * The best correction by cross-validation: rows with the same state are in the same fold, and the order of the rows does not
 * matter. A kind is taken for its log loss on rows that it was not fitted to.
 *
 * @param rows  at least one
 * @param kinds that may be chosen; `head` needs vectors
 */
export function chooseTuning(
  rows: readonly TuningRow[],
  temperature: number,
  kinds: readonly TuningKind[],
): TuningChoice {
  const before = rows.map(({ scores }) => scores);
  const figures = { rows: rows.length, before: figuresOf(rows, before, temperature) };
  const folds = foldsOf(rows);
  if (folds === undefined) {
    const fitted = fitCorrection(rows, temperature, { scale: SCALES[0] ?? 1 });
    return {
      ...figures,
      kind: "scale",
      fitted,
      folds: 0,
      after: figures.before,
      gain: { mean: 0, error: 0 },
      isBetter: false,
    };
  }
  const losses = lossesOf(rows, before, temperature);
  const scale = best(
    rows,
    folds,
    temperature,
    SCALES.map((one) => ({ scale: one })),
  );
  const strength = scale.strength.scale;
  const found = kinds.includes("head")
    ? [
        scale,
        best(
          rows,
          folds,
          temperature,
          HEADS.map((head) => ({ scale: strength, head })),
        ),
      ]
    : [scale];
  const allowed = kinds.includes("scale") ? found : found.slice(1);
  const chosen = allowed.reduce((one, other) => (meanOf(other.losses) < meanOf(one.losses) ? other : one));
  const gain = gainOf(losses, chosen.losses);
  return {
    ...figures,
    kind: chosen.strength.head === undefined ? "scale" : "head",
    fitted: fitCorrection(rows, temperature, chosen.strength),
    folds: FOLDS,
    after: figuresOf(rows, chosen.scores, temperature),
    gain,
    isBetter: gain.mean > SURE * gain.error,
  };
}

interface Tried {
  readonly strength: Strength;
  /** [rows] corrected by what was fitted without them. */
  readonly scores: readonly Float32Array[];
  readonly losses: readonly number[]; // [rows]
}

/** Goes from strong to weak, and stops when two in a row are worse than the best. */
function best(
  rows: readonly TuningRow[],
  folds: readonly number[],
  temperature: number,
  strengths: readonly Strength[],
): Tried {
  let found: Tried | undefined;
  let worse = 0;
  for (const strength of strengths) {
    const tried = tryOut(rows, folds, temperature, strength);
    const isBest = found === undefined || meanOf(tried.losses) < meanOf(found.losses);
    if (isBest) found = tried;
    worse = isBest ? 0 : worse + 1;
    if (worse === 2) break;
  }
  if (found === undefined) throw new Error("no strength was given");
  return found;
}

function tryOut(
  rows: readonly TuningRow[],
  folds: readonly number[],
  temperature: number,
  strength: Strength,
): Tried {
  const scores: Float32Array[] = new Array(rows.length);
  for (let fold = 0; fold < FOLDS; fold++) {
    const others = rows.filter((_, at) => folds[at] !== fold);
    const fitted = fitCorrection(others, temperature, strength);
    for (const [at, row] of rows.entries()) if (folds[at] === fold) scores[at] = correctRow(fitted, row);
  }
  return { strength, scores, losses: lossesOf(rows, scores, temperature) };
}

/** As it is served. */
export function correctRow(fitted: Fitted, { scores, vectors }: TuningRow): Float32Array {
  const places = Array.from(scores, (_, label) => label);
  return corrected({ labels: [], ...fitted }, places, scores, vectors);
}

/** [rows] number of the fold; undefined with too few states. */
function foldsOf(rows: readonly TuningRow[]): readonly number[] | undefined {
  const keys = [...new Set(rows.map(({ key }) => key))].sort();
  if (keys.length < MIN_STATES) return undefined;
  const folds = new Map(keys.map((key, at) => [key, at % FOLDS]));
  return rows.map(({ key }) => folds.get(key) ?? 0);
}

function gainOf(before: readonly number[], after: readonly number[]) {
  const gains = before.map((loss, at) => loss - (after[at] ?? 0));
  const mean = meanOf(gains);
  const variance = meanOf(gains.map((gain) => (gain - mean) ** 2));
  return { mean, error: Math.sqrt(variance / Math.max(1, gains.length - 1)) };
}

/** @param scores [rows] of [labels] */
export function figuresOf(
  rows: readonly TuningRow[],
  scores: readonly Float32Array[],
  temperature: number,
): TuningFigures {
  const judged = rows.map(({ key, truth }, at) => {
    const own = scores[at] ?? new Float32Array();
    const best = own.indexOf(Math.max(...own));
    const confidence = Math.exp(-lossOf(own, best, temperature));
    return { key, truth: String(truth), predicted: String(best), confidence };
  });
  return {
    accuracy: judged.filter(({ truth, predicted }) => truth === predicted).length / rows.length,
    calibration_error: calibration(judged).error,
    log_loss: meanOf(lossesOf(rows, scores, temperature)),
  };
}

const lossesOf = (rows: readonly TuningRow[], scores: readonly Float32Array[], temperature: number) =>
  rows.map(({ truth }, at) => lossOf(scores[at] ?? new Float32Array(), truth, temperature));

/** Negative logarithm of a label's probability. */
function lossOf(scores: Float32Array, label: number, temperature: number): number {
  const largest = Math.max(...scores);
  const total = scores.reduce((sum, score) => sum + Math.exp((score - largest) / temperature), 0);
  return Math.log(total) - ((scores[label] ?? Number.NaN) - largest) / temperature;
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
