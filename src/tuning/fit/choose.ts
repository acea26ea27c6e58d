import { calibration } from "../../evaluation/statistics/calibration.ts";
import { FOLDS, foldsOf } from "../../evaluation/statistics/cross-validation.ts";
import { corrected } from "../correction.ts";
import type { TuningFigures } from "../tuning-file.ts";
import {
  type FitData,
  type Fitted,
  fitCorrection,
  fitData,
  prepare,
  type Strength,
  type TuningRow,
} from "./fit.ts";

export type TuningKind = "scale" | "head";

/** Strengths that are tried, the strongest first: chosen so that a logit is expected to change by a tenth up to two. */
const STRONGEST = 100;
const SCALES = [STRONGEST, 30, 10, 3];
/** The same for heads, from one to thirty. Chosen: most of what varies in the vectors says nothing. */
const HEADS = [1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001];

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

/** Chosen by measurement: heads from 20 rows did harm. */
const MIN_HEAD_ROWS = 50;
/**
 * What is simpler is preferred unless something else is better by this many standard errors. Chosen by measurement:
 * with 1, every fourth split of 20 rows got a correction, and some did harm; with 2, splits of 100 rows gained half as
 * much.
 */
const sureOf = (rows: number) => (rows < MIN_HEAD_ROWS ? 2 : 1);

/**
 * The best correction by cross-validation: rows with the same state are in the same fold, and the order of the rows
 * does not matter. What counts is the log loss on rows that a correction was not fitted to.
 *
 * @param rows  at least one
 * @param kinds that may be chosen; `head` needs vectors
 */
export function chooseTuning(
  rows: readonly TuningRow[],
  temperature: number,
  kinds: readonly TuningKind[],
): TuningChoice {
  const before = figuresOf(
    rows,
    rows.map(({ scores }) => scores),
    temperature,
  );
  const folds = foldsOf(rows);
  if (folds === undefined) return unmeasured(rows, before, temperature);
  const sure = sureOf(rows.length);
  const [nothing, ...tried] = tryAll(rows, folds, temperature, kinds);
  const chosen = simplest([nothing, ...tried], sure);
  // also where nothing is better: what the best of them would do is shown, and can be forced
  const own = chosen === nothing ? simplest(tried, 0) : chosen;
  const strength = own.strength ?? { scale: STRONGEST };
  return {
    kind: strength.head === undefined ? "scale" : "head",
    fitted: fitCorrection(rows, temperature, strength),
    rows: rows.length,
    folds: FOLDS,
    before,
    after: figuresOf(rows, own.scores, temperature),
    gain: gainOf(nothing.losses, own.losses),
    isBetter: chosen !== nothing,
  };
}

/** The strongest correction, as nothing is known of it. */
function unmeasured(rows: readonly TuningRow[], before: TuningFigures, temperature: number): TuningChoice {
  return {
    kind: "scale",
    fitted: fitCorrection(rows, temperature, { scale: STRONGEST }),
    rows: rows.length,
    folds: 0,
    before,
    after: before,
    gain: { mean: 0, error: 0 },
    isBetter: false,
  };
}

/** What a strength does on rows that were left out of its fit. */
export interface Tried {
  /** Undefined: no correction. */
  readonly strength: Strength | undefined;
  readonly scores: readonly Float32Array[]; // [rows]
  readonly losses: readonly number[]; // [rows]
}

/**
 * The simplest way that is not shown to be worse than the best one.
 *
 * @param tried from the simplest on, at least one
 * @param sure  standard errors
 */
function simplest(tried: readonly Tried[], sure: number): Tried {
  const best = tried.reduce((one, other) => (meanOf(other.losses) < meanOf(one.losses) ? other : one));
  const isGoodEnough = ({ losses }: Tried) => {
    const { mean, error } = gainOf(losses, best.losses);
    return mean <= sure * error;
  };
  return tried.find(isGoodEnough) ?? best;
}

/**
 * @param folds [rows]
 * @returns     no correction first, then from strong to weak, heads last
 */
function tryAll(
  rows: readonly TuningRow[],
  folds: readonly number[],
  temperature: number,
  kinds: readonly TuningKind[],
): readonly [Tried, ...Tried[]] {
  const raw = rows.map(({ scores }) => scores);
  const nothing = { strength: undefined, scores: raw, losses: lossesOf(rows, raw, temperature) };
  const scales = tryPath(
    rows,
    folds,
    temperature,
    SCALES.map((scale) => ({ scale })),
  );
  const isOnly = !kinds.includes("scale");
  if (!kinds.includes("head") || (rows.length < MIN_HEAD_ROWS && !isOnly)) return [nothing, ...scales];
  const { strength: { scale = STRONGEST } = {} } = simplest(scales, 0);
  const heads = tryPath(
    rows,
    folds,
    temperature,
    HEADS.map((head) => ({ scale, head })),
  );
  return isOnly ? [nothing, ...heads] : [nothing, ...scales, ...heads];
}

/** Goes from strong to weak, and stops when two in a row are worse than the best. */
function tryPath(
  rows: readonly TuningRow[],
  folds: readonly number[],
  temperature: number,
  strengths: readonly Strength[],
): readonly Tried[] {
  const hasHead = strengths.some(({ head }) => head !== undefined);
  const fits = Array.from({ length: FOLDS }, (_, fold): FoldFit => {
    const others = rows.filter((_, at) => folds[at] !== fold);
    return { data: prepare(others, temperature, hasHead), parameters: undefined };
  });
  const tried: Tried[] = [];
  let least = Number.POSITIVE_INFINITY;
  let worse = 0;
  for (const strength of strengths) {
    const scores = tryOut(rows, folds, fits, strength);
    const losses = lossesOf(rows, scores, temperature);
    tried.push({ strength, scores, losses });
    worse = meanOf(losses) < least ? 0 : worse + 1;
    least = Math.min(least, meanOf(losses));
    if (worse === 2) break;
  }
  return tried;
}

/** The rows without a fold, and what was last fitted to them. */
interface FoldFit {
  readonly data: FitData;
  parameters: Float64Array | undefined;
}

function tryOut(
  rows: readonly TuningRow[],
  folds: readonly number[],
  fits: readonly FoldFit[],
  strength: Strength,
): Float32Array[] {
  const scores: Float32Array[] = new Array(rows.length);
  for (const [fold, fit] of fits.entries()) {
    const { fitted, parameters } = fitData(fit.data, strength, fit.parameters);
    fit.parameters = parameters;
    for (const [at, row] of rows.entries()) if (folds[at] === fold) scores[at] = correctRow(fitted, row);
  }
  return scores;
}

/** As it is served. */
export function correctRow(fitted: Fitted, { scores, vectors }: TuningRow): Float32Array {
  const places = Array.from(scores, (_, label) => label);
  return corrected({ labels: [], ...fitted }, places, scores, vectors);
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
