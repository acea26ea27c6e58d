import { ServiceError } from "../errors.ts";

/**
 * A correction of a question's scores, label by label. With m, the mean of the question's scores for a state:
 *
 *     corrected = m + scale * (score - m) + bias + head . vector
 *
 * It stays in the unit of scores: the softmax over corrected scores, at the model's own temperature, gives the
 * probabilities.
 */
export interface Correction {
  /** Sorted by code units. */
  readonly labels: readonly string[];
  readonly scale: readonly number[]; // [labels]
  readonly bias: readonly number[]; // [labels]
  /** [labels][size] weights of the vector that the model's head reads. */
  readonly head?: readonly (readonly number[])[];
}

/** Positions of a correction's labels among those of a question; undefined unless they are the same labels. */
export function placesOf({ labels }: Correction, asked: readonly string[]): readonly number[] | undefined {
  if (labels.length !== asked.length) return undefined;
  const places = labels.map((label) => asked.indexOf(label));
  return places.includes(-1) ? undefined : places;
}

/**
 * Corrected scores. They depend on these scores and vectors only, and are computed in one order: the same bits in any
 * company.
 *
 * @param scores  [labels] raw scores in the order of the request
 * @param vectors [labels, size] in the same order; needed with a head
 * @param places  as `placesOf` gives them
 * @returns       [labels] in the order of the request
 * @throws ServiceError BACKEND_FAILED where the vectors are missing or of another size than the head
 */
export function corrected(
  { scale, bias, head }: Correction,
  places: readonly number[],
  scores: Float32Array,
  vectors: Float32Array | undefined,
): Float32Array {
  if (head !== undefined && vectors?.length !== scores.length * (head[0]?.length ?? 0))
    throw new ServiceError("BACKEND_FAILED", "The model's vectors do not fit the head of the tuning.");
  const of = (place: number) => scores[place] ?? Number.NaN;
  const mean = places.reduce((sum, place) => sum + of(place), 0) / places.length;
  const result = new Float32Array(scores.length);
  for (const [at, place] of places.entries()) {
    const own = mean + (scale[at] ?? 1) * (of(place) - mean) + (bias[at] ?? 0);
    result[place] = own + (head === undefined ? 0 : product(head[at] ?? [], vectors, place));
  }
  return result;
}

/** @param vectors [labels, size] */
function product(weights: readonly number[], vectors: Float32Array | undefined, row: number): number {
  const size = weights.length;
  let sum = 0;
  for (let i = 0; i < size; i++) sum += (weights[i] ?? 0) * (vectors?.[row * size + i] ?? Number.NaN);
  return sum;
}
