import type { Candidates, Questions } from "./requests.ts";
import type { Answers, Decisions, Ranking } from "./results.ts";

/** A token of the model's input. */
export interface Token {
  readonly id: number;
  /** The token as written in the vocabulary. */
  readonly text: string;
  /** The part of the text that it represents. Special tokens have none. */
  readonly source?: string;
  /** Whether it is the token for unknown text. */
  readonly is_unknown: boolean;
}

/** A text as the model reads it. */
export interface Reading {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** Whether its tokens came from the cache of texts. */
  readonly was_kept?: boolean;
}

export interface QuestionReading {
  readonly instructions: Reading;
  readonly state_question_tokens?: number;
  /** Keyed by label. */
  readonly candidates: Readonly<Record<string, Reading & { readonly pair_tokens: number }>>;
}

/** Members of all explanations. */
interface Read {
  readonly state: Reading;
  readonly limits: { readonly max_state_question_tokens: number; readonly max_candidate_tokens: number };
  readonly model: string;
  readonly latency_ms: number;
}

/** The tokens of a request. */
export interface TokenExplanation<Q extends Questions = Questions> extends Read {
  readonly questions: { readonly [Name in keyof Answers<Q>]: QuestionReading };
}

/** The tokens of a ranking. */
export interface RankingTokens extends Read {
  /** The question with its candidates, keyed by label. */
  readonly question: QuestionReading;
}

interface Part {
  readonly unit: "field" | "item" | "sentence" | "word";
  readonly text: string;
}

/** A part of the state. */
export interface StatePart<Q extends Questions = Questions> extends Part {
  readonly questions: { readonly [Name in keyof Answers<Q>]: PartInfluence };
}

/** A part of the state of a ranking. */
export interface RankingPart extends Part {
  readonly question: PartInfluence;
}

export interface PartInfluence {
  /** The probability of the answer, or of the first candidate, minus its probability without the part. */
  readonly shift: number;
  /** The answer without the part; for a ranking, the first candidate without it. */
  readonly answer: string;
  /** Probabilities without the part, keyed by label. */
  readonly probabilities: Readonly<Record<string, number>>;
}

/** The tokens, the answers, and the effect of each part of the state. */
export interface Explanation<Q extends Questions = Questions>
  extends TokenExplanation<Q>,
    Pick<Decisions<Q>, "answers" | "usage" | "temperature"> {
  readonly influence: readonly StatePart<Q>[];
}

/** The tokens, the ranking, and the effect of each part of the state on the first candidate. */
export interface RankingExplanation<C extends Candidates = Candidates>
  extends RankingTokens,
    Pick<Ranking<C>, "ranked" | "usage" | "temperature"> {
  readonly influence: readonly RankingPart[];
}
