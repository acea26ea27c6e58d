import { ServiceError } from "../errors.ts";
import { probabilities } from "./probabilities.ts";
import type { SentCandidate } from "./rank.ts";

export interface RankedCandidate {
  /** Position, from 1. */
  readonly rank: number;
  /** Its label. */
  readonly candidate: string;
  /** As sent. */
  readonly text: string;
  /** Raw, the exact value of the model's float32. */
  readonly score: number;
  readonly probability: number;
}

/**
 * Sorts candidates from the largest raw score to the smallest. Equal scores keep their order.
 *
 * @param scores [candidates] raw scores
 * @throws ServiceError BACKEND_FAILED on a non-finite score, or when the scores do not fit the candidates
 */
export function rankCandidates(
  sent: readonly SentCandidate[],
  scores: Float32Array | undefined,
  temperature: number,
): RankedCandidate[] {
  if (scores?.length !== sent.length)
    throw new ServiceError("BACKEND_FAILED", "The model returned too few or too many scores.");
  const shares = probabilities(scores, temperature);
  return sent
    .map(({ label, text }, position) => ({
      candidate: label,
      text,
      score: scores[position] ?? 0,
      probability: shares[position] ?? 0,
    }))
    .sort((a, b) => b.score - a.score) // stable
    .map((candidate, position) => ({ rank: position + 1, ...candidate }));
}
