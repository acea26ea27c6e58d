import type { Location } from "../errors.ts";
import type { QuestionType } from "./questions.ts";

/** A request as texts for the model, with the location of each text for errors. */
export interface RenderedRequest {
  readonly state: RenderedText;
  readonly questions: readonly RenderedQuestion[];
}

export interface RenderedText {
  readonly text: string;
  readonly loc: Location;
}

export interface RenderedQuestion {
  /** Left out where none of these is asked, as by a ranking. */
  readonly form?: QuestionType;
  readonly question: RenderedText;
  /** In request order; `label` names the candidate in the answer. */
  readonly candidates: readonly RenderedCandidate[];
}

export interface RenderedCandidate extends RenderedText {
  readonly label: string;
  /**
   * What the request says of the candidate, without its label; "" for an outcome without a description. Left out where
   * it is `text`.
   */
  readonly given?: string;
}
