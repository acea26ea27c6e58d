import { ServiceError } from "../errors.ts";
import type { QuestionFacts } from "./systemone.ts";

/** Common part of all answers: numbers by label, in the order of the candidates. */
interface Scored {
  /** float64; they sum to 1 within 1e-12. */
  readonly probabilities: ReadonlyMap<string, number>;
  /** The largest probability. */
  readonly confidence: number;
  /** Raw, each the exact value of the model's float32. */
  readonly scores: ReadonlyMap<string, number>;
}

export interface ChoiceAnswer extends Scored {
  readonly type: "choice";
  /** The label with the largest score; the first one if several are equal. */
  readonly choice: string;
}

export interface NoulAnswer extends Scored {
  readonly type: "noul";
  /** The probability of `true`. */
  readonly noul: number;
}

export interface ScoreAnswer extends Scored {
  readonly type: "score";
  /** The expected level: the sum of each level times its probability. */
  readonly score: number;
}

export type Answer = ChoiceAnswer | NoulAnswer | ScoreAnswer;

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
) {
  if (scores?.length !== labels.length)
    throw new ServiceError("BACKEND_FAILED", "The model returned too few or too many scores.");
  switch (type) {
    case "choice":
      return answerChoice(labels, scores, temperature);
    case "noul":
      return answerNoul(scores, temperature);
    case "score":
      return answerScore(scores, temperature);
  }
}

/** @param scores [labels] raw scores. @throws ServiceError BACKEND_FAILED on a non-finite score */
export function answerChoice(
  labels: readonly string[],
  scores: Float32Array,
  temperature: number,
): ChoiceAnswer {
  const scored = score(labels, scores, temperature);
  const best = scores.indexOf(Math.max(...scores)); // indexOf returns the first of equal scores
  return { type: "choice", choice: labels[best] ?? "", ...scored };
}

/** @param scores [2] raw scores of false and true. @throws ServiceError BACKEND_FAILED on a non-finite score */
export function answerNoul(scores: Float32Array, temperature: number): NoulAnswer {
  const scored = score(["false", "true"], scores, temperature);
  return { type: "noul", noul: scored.probabilities.get("true") ?? 0, ...scored };
}

/** @param scores [levels] raw scores, lowest level first. @throws ServiceError BACKEND_FAILED on a non-finite score */
export function answerScore(scores: Float32Array, temperature: number): ScoreAnswer {
  const scored = score(
    Array.from(scores, (_, level) => String(level)),
    scores,
    temperature,
  );
  // computed from the probabilities that are sent, so that clients can check the sum
  const expected = [...scored.probabilities.values()].reduce((sum, share, level) => sum + level * share, 0);
  return { type: "score", score: expected, ...scored };
}

function score(labels: readonly string[], scores: Float32Array, temperature: number): Scored {
  const shares = probabilities(scores, temperature);
  const byLabel = (numbers: Float32Array | Float64Array) =>
    new Map(labels.map((label, position) => [label, numbers[position] ?? 0]));
  return { probabilities: byLabel(shares), confidence: Math.max(...shares), scores: byLabel(scores) };
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
