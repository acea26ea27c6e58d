import type { Candidates, Questions } from "./requests.ts";
import type { Answers, Decisions, Ranking } from "./results.ts";

/** A token that the model gets. */
export interface Token {
  readonly id: number;
  /** As the vocabulary writes it. */
  readonly text: string;
  /** What it stands for in the text. Special tokens have none. */
  readonly source?: string;
  /** Whether the vocabulary lacks it. */
  readonly is_unknown: boolean;
}

/** A text as the model reads it. */
export interface Reading {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** Whether its tokens were in the cache of texts. */
  readonly was_kept?: boolean;
}

export interface QuestionReading {
  readonly instructions: Reading;
  readonly state_question_tokens: number;
  /** By label. */
  readonly candidates: Readonly<Record<string, Reading & { readonly pair_tokens: number }>>;
}

/** What all explanations have in common. */
interface Read {
  readonly state: Reading;
  readonly limits: { readonly max_state_question_tokens: number; readonly max_candidate_tokens: number };
  readonly model: string;
  readonly latency_ms: number;
}

/** What the model reads of a request. */
export interface TokenExplanation<Q extends Questions = Questions> extends Read {
  readonly questions: { readonly [Name in keyof Answers<Q>]: QuestionReading };
}

/** What the model reads of a ranking. */
export interface RankingTokens extends Read {
  /** With the candidates, by label. */
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
  /** The probability of the answer, or of the first candidate, less its probability without the part. */
  readonly shift: number;
  /** What would be answered without the part; of a ranking, the candidate that would be first. */
  readonly answer: string;
  /** By label, without the part. */
  readonly probabilities: Readonly<Record<string, number>>;
}

/** What the model reads, what it answers, and what moved it. */
export interface Explanation<Q extends Questions = Questions>
  extends TokenExplanation<Q>,
    Pick<Decisions<Q>, "answers" | "usage" | "temperature"> {
  readonly influence: readonly StatePart<Q>[];
}

/** What the model reads, how it ranks, and what moved the first candidate. */
export interface RankingExplanation<C extends Candidates = Candidates>
  extends RankingTokens,
    Pick<Ranking<C>, "ranked" | "usage" | "temperature"> {
  readonly influence: readonly RankingPart[];
}
