import { ServiceError } from "../errors.ts";
import { REQUEST_LIMITS, type RenderedQuestion, type RenderedRequest } from "./request.ts";

/** Where the scores of a question of a part belong: its place among all questions, and its first candidate. */
export interface Slice {
  readonly question: number;
  readonly start: number;
}

/** Requests that one call of the engine takes, and where their scores belong. */
export interface SplitRequests {
  readonly parts: readonly RenderedRequest[];
  /** [questions of all parts] */
  readonly slices: readonly Slice[];
}

/**
 * Splits requests of any size into parts within the engine's limits, in order: questions, candidates of a question,
 * pairs.
 *
 * A pair's score does not depend on what else is asked, so the scores of the parts are those of the whole. Questions
 * without candidates are left out.
 */
export function splitRequests(requests: readonly RenderedRequest[]): SplitRequests {
  const parts: RenderedRequest[] = [];
  const slices: Slice[] = [];
  const { maxQuestions, maxCandidates, maxPairs } = REQUEST_LIMITS;
  let index = 0;
  for (const { state, questions } of requests) {
    let part: RenderedQuestion[] = [];
    let pairs: number = maxPairs; // the first question begins a part
    for (const question of questions) {
      const { candidates } = question;
      for (let start = 0; start < candidates.length; ) {
        if (pairs === maxPairs || part.length === maxQuestions) {
          part = [];
          pairs = 0;
          parts.push({ state, questions: part });
        }
        const count = Math.min(candidates.length - start, maxCandidates, maxPairs - pairs);
        part.push({ ...question, candidates: candidates.slice(start, start + count) });
        slices.push({ question: index, start });
        pairs += count;
        start += count;
      }
      index += 1;
    }
  }
  return { parts, slices };
}

/**
 * The same as `joinScores` for vectors.
 *
 * @param vectors [questions of all parts] one [candidates, size] array each; empty where there are none
 * @returns       [questions] one [candidates, size] array each; undefined where there are none
 */
export function joinVectors(
  slices: readonly Slice[],
  counts: readonly number[],
  vectors: readonly Float32Array[],
): readonly Float32Array[] | undefined {
  const joined = counts.map((): Float32Array[] => []);
  for (const [position, { question }] of slices.entries()) {
    const own = vectors[position];
    if (own === undefined) return undefined;
    joined[question]?.push(own); // the pieces of a question follow each other
  }
  return joined.map(concatenated);
}

function concatenated(pieces: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/**
 * Puts the scores of all parts together.
 *
 * @param slices [questions of all parts] where their scores belong
 * @param counts [questions] number of candidates of each question of the whole request
 * @param scores [questions of all parts] as the engine gives them
 * @returns      [questions] one [candidates] array each
 * @throws ServiceError BACKEND_FAILED when the scores do not fit the parts
 */
export function joinScores(
  slices: readonly Slice[],
  counts: readonly number[],
  scores: readonly Float32Array[],
): readonly Float32Array[] {
  const joined = counts.map((count) => new Float32Array(count).fill(Number.NaN));
  for (const [position, { question, start }] of slices.entries()) {
    const own = scores[position];
    const whole = joined[question];
    if (own === undefined || whole === undefined || start + own.length > whole.length) {
      throw new ServiceError("BACKEND_FAILED", "The model returned too few or too many scores.");
    }
    whole.set(own, start);
  }
  return joined;
}
