import type { Correction } from "../correction.ts";
import { minimise, type Objective } from "./minimise.ts";

/** A labelled row as the model saw it. */
export interface TuningRow {
  /** Same for rows with the same state. */
  readonly key: string;
  /** Position of the right label. */
  readonly truth: number;
  readonly scores: Float32Array; // [labels]
  readonly vectors?: Float32Array | undefined; // [labels, size]
}

/**
 * How strongly a correction is held at doing nothing: the reciprocal of the variance that it is expected to add to a
 * logit. Without `head` there is none.
 */
export interface Strength {
  readonly scale: number;
  readonly head?: number | undefined;
}

/** What is fitted: a correction without its labels. */
export type Fitted = Omit<Correction, "labels">;

/**
 * The most probable correction of a question's scores (maximum a posteriori). With z = (score - mean of the row) /
 * temperature:
 *
 *     logit = z + a z + d (z - its mean) + b + w . (vector - its mean)
 *
 * a is one number, d and b are numbers by label, w is a vector by label. All are 0 where nothing is to be corrected,
 * and the negative log likelihood of the right labels, plus a square penalty, is convex in them.
 *
 * @param rows        at least one, each with the same number of labels
 * @param temperature the model's divisor of scores
 */
export function fitCorrection(rows: readonly TuningRow[], temperature: number, strength: Strength): Fitted {
  return fitData(prepare(rows, temperature, strength.head !== undefined), strength).fitted;
}

/**
 * The same for rows that are fitted several times.
 *
 * @param start parameters to begin with, those of a similar strength: the result is the same, and found sooner
 */
export function fitData(
  data: FitData,
  strength: Strength,
  start: Float64Array = new Float64Array(parameterCount(data)),
): { readonly fitted: Fitted; readonly parameters: Float64Array } {
  const parameters = minimise(objectiveOf(data, strength), start);
  return { fitted: correctionOf(parameters, data), parameters };
}

/** Rows in the units of the fit. */
export interface FitData {
  readonly count: number;
  readonly labels: number;
  readonly temperature: number;
  readonly truths: Int32Array; // [rows]
  readonly z: Float64Array; // [rows, labels]
  /** Root mean square of z, and of z from its means. */
  readonly spread: number;
  readonly ownSpread: number;
  readonly means: Float64Array; // [labels] of z
  /** Numbers of a vector; 0 without a head. */
  readonly size: number;
  readonly vectors: readonly Float32Array[]; // [rows] of [labels, size]
  readonly vectorMeans: Float64Array; // [labels, size]
  /** Root mean square of the length of a vector from its mean. */
  readonly vectorSpread: number;
}

export function prepare(rows: readonly TuningRow[], temperature: number, hasHead: boolean): FitData {
  const labels = rows[0]?.scores.length ?? 0;
  const count = rows.length;
  const z = new Float64Array(count * labels);
  for (const [i, { scores }] of rows.entries()) {
    const mean = scores.reduce((sum, score) => sum + score, 0) / labels;
    for (let l = 0; l < labels; l++) z[i * labels + l] = ((scores[l] as number) - mean) / temperature;
  }
  const means = columnMeans(z, count, labels);
  const fromMeans = z.map((one, at) => one - (means[at % labels] as number));
  const vectors = hasHead ? rows.map((row) => row.vectors ?? new Float32Array()) : [];
  const size = (vectors[0]?.length ?? 0) / Math.max(1, labels);
  const vectorMeans = meansOf(vectors, labels * size);
  return {
    count,
    labels,
    temperature,
    truths: Int32Array.from(rows, ({ truth }) => truth),
    z,
    spread: rootMeanSquare(z),
    ownSpread: rootMeanSquare(fromMeans),
    means,
    size,
    vectors,
    vectorMeans,
    vectorSpread: spreadOf(vectors, vectorMeans, labels),
  };
}

/** Parameters: a, then d and b of each label, then w of each label. */
export const parameterCount = ({ labels, size }: FitData) => 1 + 2 * labels + labels * size;

/** Of a, beside the others. Chosen: it is one number, of which all rows tell. */
const SHARED = 0.1;

export function objectiveOf(data: FitData, strength: Strength): Objective {
  const { count, labels, truths, z, spread, ownSpread, means, size, vectors, vectorMeans, vectorSpread } =
    data;
  const offsets = { d: 1, b: 1 + labels, w: 1 + 2 * labels };
  const logits = new Float64Array(labels);
  const shifts = new Float64Array(labels); // w . mean of the vectors
  const sums = new Float64Array(labels); // of the gradients of the logits
  return (x, gradient) => {
    gradient.fill(0);
    sums.fill(0);
    let value = penalty(x, gradient, labels, strength);
    for (let l = 0; l < labels; l++)
      shifts[l] = rowProduct(x, offsets.w + l * size, vectorMeans, l * size, size);
    for (let i = 0; i < count; i++) {
      const vector = vectors[i];
      for (let l = 0; l < labels; l++) {
        const at = z[i * labels + l] as number;
        const own = (at - (means[l] as number)) / ownSpread;
        const head =
          vector === undefined
            ? 0
            : (rowProduct(x, offsets.w + l * size, vector, l * size, size) - (shifts[l] as number)) /
              vectorSpread;
        logits[l] =
          at +
          ((x[0] as number) * at) / spread +
          (x[offsets.d + l] as number) * own +
          (x[offsets.b + l] as number) +
          head;
      }
      value += toGradients(logits, truths[i] as number);
      for (let l = 0; l < labels; l++) {
        const g = logits[l] as number;
        const at = z[i * labels + l] as number;
        gradient[0] = (gradient[0] as number) + (g * at) / spread;
        const d = offsets.d + l;
        gradient[d] = (gradient[d] as number) + (g * (at - (means[l] as number))) / ownSpread;
        sums[l] = (sums[l] as number) + g;
        if (vector !== undefined)
          addRow(gradient, offsets.w + l * size, vector, l * size, size, g / vectorSpread);
      }
    }
    for (let l = 0; l < labels; l++) {
      const b = offsets.b + l;
      gradient[b] = (gradient[b] as number) + (sums[l] as number);
      addRow(
        gradient,
        offsets.w + l * size,
        vectorMeans,
        l * size,
        size,
        -(sums[l] as number) / vectorSpread,
      );
    }
    return value;
  };
}

function penalty(
  x: Float64Array,
  gradient: Float64Array,
  labels: number,
  { scale, head = 0 }: Strength,
): number {
  let value = 0;
  for (let i = 0; i < x.length; i++) {
    const strength = i === 0 ? SHARED * scale : i < 1 + 2 * labels ? scale : head;
    const own = x[i] as number;
    value += (strength * own * own) / 2;
    gradient[i] = strength * own;
  }
  return value;
}

/** Turns logits into the gradients of the negative log likelihood, which it returns. */
function toGradients(logits: Float64Array, truth: number): number {
  const largest = Math.max(...logits);
  const own = (logits[truth] as number) - largest;
  let total = 0;
  for (let l = 0; l < logits.length; l++) {
    const weight = Math.exp((logits[l] as number) - largest);
    logits[l] = weight;
    total += weight;
  }
  for (let l = 0; l < logits.length; l++) logits[l] = (logits[l] as number) / total - (l === truth ? 1 : 0);
  return Math.log(total) - own;
}

type Numbers = Float32Array | Float64Array;

function rowProduct(a: Numbers, aAt: number, b: Numbers, bAt: number, size: number): number {
  let sum = 0;
  for (let i = 0; i < size; i++) sum += (a[aAt + i] as number) * (b[bAt + i] as number);
  return sum;
}

function addRow(
  to: Float64Array,
  toAt: number,
  what: Numbers,
  at: number,
  size: number,
  times: number,
): void {
  for (let i = 0; i < size; i++) to[toAt + i] = (to[toAt + i] as number) + times * (what[at + i] as number);
}

/** The same correction in the unit of scores, without means and spreads. */
function correctionOf(x: Float64Array, data: FitData): Fitted {
  const { labels, temperature, spread, ownSpread, means, size, vectorMeans, vectorSpread } = data;
  const each = <T>(value: (l: number) => T) => Array.from({ length: labels }, (_, l) => value(l));
  const slope = (l: number) => (x[1 + l] as number) / ownSpread;
  const w = (l: number) => 1 + 2 * labels + l * size;
  const shift = (l: number) => rowProduct(x, w(l), vectorMeans, l * size, size) / vectorSpread;
  const offset = (l: number) => (x[1 + labels + l] as number) - slope(l) * (means[l] as number) - shift(l);
  const fitted = {
    scale: each((l) => rounded(1 + (x[0] as number) / spread + slope(l))),
    bias: each((l) => rounded(temperature * offset(l))),
  };
  if (size === 0) return fitted;
  const row = (l: number) => [...x.subarray(w(l), w(l) + size)];
  return { ...fitted, head: each((l) => row(l).map((one) => rounded((temperature * one) / vectorSpread))) };
}

/** To seven significant digits, as float32 has: a file need not hold more. */
const rounded = (value: number) => Number(value.toPrecision(7));

function columnMeans(values: Float64Array, rows: number, columns: number): Float64Array {
  const means = new Float64Array(columns);
  for (const [at, value] of values.entries())
    means[at % columns] = (means[at % columns] as number) + value / rows;
  return means;
}

function meansOf(rows: readonly Float32Array[], size: number): Float64Array {
  const means = new Float64Array(size);
  for (const row of rows) addRow(means, 0, row, 0, size, 1 / rows.length);
  return means;
}

/** Never 0, so that what does not vary can be divided by it. */
const LEAST_SPREAD = 1e-6;

function rootMeanSquare(values: Float64Array): number {
  const sum = values.reduce((total, value) => total + value * value, 0);
  return Math.max(LEAST_SPREAD, Math.sqrt(sum / values.length));
}

function spreadOf(rows: readonly Float32Array[], means: Float64Array, labels: number): number {
  let sum = 0;
  for (const row of rows)
    for (let i = 0; i < means.length; i++) sum += ((row[i] as number) - (means[i] as number)) ** 2;
  return Math.max(LEAST_SPREAD, Math.sqrt(sum / Math.max(1, rows.length * labels)));
}
