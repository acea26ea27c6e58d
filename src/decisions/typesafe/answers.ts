import type { components } from "../../../generated/typesafe.ts";
import type { Received } from "../../json/views.ts";
import { probabilities } from "../answers.ts";
import type { TypesafeFacts } from "./request.ts";

type TypesafeAnswer = Received<components["schemas"]["TypesafeAnswer"]>;

/**
 * The answers by question name, in request order, rounded.
 *
 * @param scores [questions] one [scored candidates] array each; empty where the answer is certain without the model
 * @throws ServiceError BACKEND_FAILED on a non-finite score
 */
export function answerTypesafe(
  facts: readonly TypesafeFacts[],
  scores: readonly Float32Array[],
  temperature: number,
): ReadonlyMap<string, TypesafeAnswer> {
  return new Map(
    facts.map((question, position) => [
      question.name,
      answerOf(question, scores[position] ?? new Float32Array(), temperature),
    ]),
  );
}

function answerOf(
  { type, labels, scoredBy, legend }: TypesafeFacts,
  scores: Float32Array,
  temperature: number,
): TypesafeAnswer {
  // labels of one text have one score; where all have, no model was asked, and any score gives each the same share
  const own = Float32Array.from(scoredBy, (position) =>
    scores.length === 0 ? 0 : (scores[position] ?? NaN),
  );
  const shares = probabilities(own, temperature);
  const rounded = () => new Map(labels.map((label, position) => [label, round(shares[position] ?? 0)]));
  const best = shares.indexOf(Math.max(...shares)); // the first of equal ones
  switch (type) {
    case "noul":
      return { type, noul: round(shares[1] ?? 0) };
    case "choice":
      return {
        type,
        choice: labels[best] ?? "",
        probabilities: rounded(),
        confidence: round(choiceConfidence(shares)),
      };
    case "score":
      return {
        type,
        score: round(shares.reduce((sum, share, level) => sum + level * share, 0)),
        legend: new Map(legend.map((level, position) => [String(position), level])),
        probabilities: rounded(),
        confidence: round(scoreConfidence(shares)),
      };
  }
}

/**
 * How far the largest probability lies above that of a guess, from 0 to 1.
 *
 * @param shares [options] probabilities
 * @see https://github.com/typesafe-ai/system-one-adapter-python (confidence_metrics.py)
 */
export function choiceConfidence(shares: Float64Array): number {
  if (shares.length === 1) return 1;
  const guess = 1 / shares.length;
  return (Math.max(...shares) - guess) / (1 - guess);
}

/**
 * How close the probabilities lie to the likeliest level, from 0 (as spread as if all were equal, or more) to 1.
 *
 * @param shares [levels] probabilities
 * @see https://github.com/typesafe-ai/system-one-adapter-python (confidence_metrics.py)
 */
export function scoreConfidence(shares: Float64Array): number {
  const levels = shares.length;
  if (levels === 1) return 1;
  const mode = shares.indexOf(Math.max(...shares));
  const spread = shares.reduce((sum, share, level) => sum + share * Math.abs(level - mode), 0);
  const uniform = shares.reduce((sum, _, level) => sum + Math.abs(level - (levels - 1) / 2), 0) / levels;
  return Math.max(0, 1 - spread / uniform);
}

/** To two decimals, as the hosted service rounds probabilities, scores and confidences. */
function round(value: number): number {
  return Math.round(value * 100) / 100;
}
