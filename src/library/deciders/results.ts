import type { Candidates, Question, Questions } from "./requests.ts";

/** Names of an object's members as strings: the compiler treats integer-like names as numbers. */
type Names<T> =
  Extract<keyof T, string | number> extends infer Name extends string | number ? `${Name}` : never;

/** `"0" | "1" | "2"` for a tuple of length three; any string for a list of unknown length. */
type Positions<T extends readonly unknown[]> = number extends T["length"]
  ? string
  : Extract<keyof T, `${number}`>;

/** The labels of a choice's criteria or of a ranking's candidates. */
type LabelsOf<T> =
  T extends ReadonlyMap<infer Label extends string, unknown>
    ? Label
    : T extends readonly unknown[]
      ? Positions<T>
      : Names<T>;

/** Numbers by label. */
type ByLabel<Label extends string> = { readonly [Each in Label]: number };

interface Scored<Label extends string> {
  /** Probabilities by label; they sum to 1. */
  readonly probabilities: ByLabel<Label>;
  /** The largest probability. It is not the probability that the answer is right. */
  readonly confidence: number;
  /** Raw scores; larger is better. */
  readonly scores: ByLabel<Label>;
}

export interface ChoiceAnswer<Label extends string = string> extends Scored<Label> {
  readonly type: "choice";
  readonly choice: Label;
}

export interface NoulAnswer extends Scored<"false" | "true"> {
  readonly type: "noul";
  /** The probability of `true`. */
  readonly noul: number;
}

export interface ScoreAnswer<Level extends string = string> extends Scored<Level> {
  readonly type: "score";
  /** The expected level, from 0. */
  readonly score: number;
}

/** The answer to a question. */
export type AnswerTo<Q extends Question> = Q extends {
  readonly type: "choice";
  readonly criteria: infer Criteria;
}
  ? ChoiceAnswer<LabelsOf<Criteria>>
  : Q extends { readonly type: "score"; readonly criteria: infer Levels extends readonly unknown[] }
    ? ScoreAnswer<Positions<Levels>>
    : NoulAnswer;

/** The answers by question name. */
export type Answers<Q extends Questions> =
  Q extends ReadonlyMap<infer Name extends string, infer Each extends Question>
    ? { readonly [Each_ in Name]: AnswerTo<Each> }
    : { readonly [Name in keyof Q]: Q[Name] extends Question ? AnswerTo<Q[Name]> : never };

/** Members of both kinds of results. */
interface Facts {
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly total_tokens: number;
    readonly cached_pairs: number;
  };
  /** The id of the model that answered. */
  readonly model: string;
  /** Divisor of the scores in the softmax. */
  readonly temperature: number;
  readonly probabilities_source: "softmax_ranking_scores_external_temperature";
  readonly latency_ms: number;
}

export interface Decisions<Q extends Questions = Questions> extends Facts {
  readonly answers: Answers<Q>;
}

export interface RankedCandidate<Label extends string = string> {
  /** Position, from 1. */
  readonly rank: number;
  /** Its label, or its position in a list. */
  readonly candidate: Label;
  readonly text: string;
  readonly score: number;
  readonly probability: number;
}

export interface Ranking<C extends Candidates = Candidates> extends Facts {
  /** Best first. */
  readonly ranked: readonly RankedCandidate<LabelsOf<C>>[];
}
