import type { components } from "../../generated/types.ts";
import type { Location } from "../errors.ts";
import { MAX_NESTING } from "../json/read.ts";
import type { Received } from "../json/views.ts";

type Schemas = components["schemas"];

/** Validated bodies. */
export type SystemoneBody = Received<Schemas["SystemoneRequest"]>;
/** Under the contract's names; `question` is null where some generated clients cannot leave it out. */
export type RankBody = Received<Schemas["RankRequest"]>;

export type Question = Received<Schemas["Question"]>;
export type QuestionType = Question["type"];
export type ChoiceQuestion = Received<Schemas["ChoiceQuestion"]>;
export type NoulQuestion = Received<Schemas["NoulQuestion"]>;
export type ScoreQuestion = Received<Schemas["ScoreQuestion"]>;

/**
 * Limits that do not depend on the model, as the specification has them. The schemas in openapi/ state those of
 * questions, candidates and answers again; those of `rank` (whose candidates are a list or a map), of pairs and of
 * bodies they can only describe. `test/decisions/limits.test.ts` holds every place that states one to these.
 */
export const REQUEST_LIMITS = {
  maxBodyBytes: 2_097_152,
  /** Levels of objects and arrays. */
  maxNesting: MAX_NESTING,
  maxQuestions: 32,
  /** Of a question and of a ranking, and the largest part of a dialect's question that is scored at a time. */
  minCandidates: 2,
  maxCandidates: 64,
  /** Candidates of all questions of a request together. */
  maxPairs: 256,
} as const;

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

/** Tells how a model's tokenizer reads a text on its own, without special tokens. */
export interface TextReader {
  /** @returns [texts] */
  readTexts(texts: readonly string[]): Promise<readonly TextTokens[]>;
}

export interface TextTokens {
  readonly count: number;
  /**
   * [count] where each token ends: characters (Unicode code points) from the beginning of the text. All tokens of a
   * character end with it.
   */
  ends(): readonly number[];
}
