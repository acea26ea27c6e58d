import type { Location } from "../errors.ts";

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
  readonly question: RenderedText;
  /** In request order; `label` names the candidate in the answer. */
  readonly candidates: readonly RenderedCandidate[];
}

export interface RenderedCandidate extends RenderedText {
  readonly label: string;
}
