import type { components } from "../../generated/types.ts";
import { ServiceError } from "../errors.ts";
import type { Received } from "../json/views.ts";
import type { QuestionFacts } from "./systemone.ts";

/** Numbers are by label, in the order of the candidates. Scores are the exact values of the model's float32. */
export type Answer = Received<components["schemas"]["Answer"]>;

/**
 * The answers by question name, in request order.
 *
 * @param scores one [candidates] array for each question
 * @throws ServiceError BACKEND_FAILED on a non-finite score, or when the scores do not fit the questions
 */
export function answerQuestions(
  facts: readonly QuestionFacts[],
  scores: readonly Float32Array[],
  temperature: number,
): ReadonlyMap<string, Answer> {
  return new Map(
    facts.map((question, position) => [
      question.name,
      answerQuestion(question, scores[position], temperature),
    ]),
  );
}

function answerQuestion(
  { type, labels }: QuestionFacts,
  scores: Float32Array | undefined,
  temperature: number,
): Answer {
  if (scores?.length !== labels.length)
    throw new ServiceError("BACKEND_FAILED", "The model returned too few or too many scores.");
  const shares = probabilities(scores, temperature);
  const byLabel = (numbers: Float32Array | Float64Array) =>
    new Map(labels.map((label, position) => [label, numbers[position] ?? 0]));
  const numbers = {
    probabilities: byLabel(shares),
    confidence: Math.max(...shares),
    scores: byLabel(scores),
  };
  switch (type) {
    case "choice": {
      const best = scores.indexOf(Math.max(...scores)); // the first of equal ones
      return { type, choice: labels[best] ?? "", ...numbers };
    }
    case "noul":
      return { type, noul: shares[1] ?? 0, ...numbers };
    case "score":
      // of the probabilities that are sent, so that clients can check the sum
      return { type, score: shares.reduce((sum, share, level) => sum + level * share, 0), ...numbers };
  }
}

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
