import type { QuestionType, RenderedQuestion } from "./request.ts";

/** A correction of a question's scores. */
export interface TuningFacts {
  /** First 16 hex digits of the correction's digest; also in a header of responses. */
  readonly id: string;
  /** The question's name when it was tuned. */
  readonly name: string;
  readonly form: QuestionType;
  /** Digest of the question. */
  readonly question: string;
  readonly kind: "scale" | "head";
}

/** Corrections of the scores of certain questions. They apply to every request with such a question, whatever its name. */
export interface Tuning {
  readonly facts: readonly TuningFacts[];
  /** The corrections for a request; undefined if none applies. The result holds no text of the request. */
  match(questions: readonly RenderedQuestion[]): TunedRequest | undefined;
}

export interface TunedRequest {
  /** Ids of the corrections, in the order of the questions. */
  readonly ids: readonly string[];
  /**
   * @param scores  one [candidates] array of raw scores for each question
   * @param vectors one [candidates, size] array for each question, if the engine returns vectors
   * @returns       the scores; those of questions with a correction are corrected
   */
  correct(
    scores: readonly Float32Array[],
    vectors: readonly Float32Array[] | undefined,
  ): readonly Float32Array[];
}
