import { ServiceError } from "../errors.ts";

/**
 * Probabilities of one question's candidates.
 *
 * @param scores      [candidates] raw scores, finite, at least one
 * @param temperature divisor of the scores, > 0
 * @returns           [candidates] float64, sums to 1 within 1e-12
 * @throws ServiceError BACKEND_FAILED on a non-finite score
 * Subtracts the largest score first: exp overflows above 709.
 * @see Goodfellow et al. 2016, Deep Learning, 4.1
 */
export function probabilities(scores: Float32Array, temperature: number): Float64Array {
  if (!scores.every(Number.isFinite)) {
    throw new ServiceError("BACKEND_FAILED", "The model returned a score that is not finite.");
  }
  const largest = Math.max(...scores);
  const weights = Float64Array.from(scores, (score) => Math.exp((score - largest) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
