/**
 * Requests of a program. The types keep literal names and labels of the argument, so that answers are typed by them. A
 * type test compares them with the types generated from the contract.
 */

/** Any JSON value. A Map is an object whose members keep their order, also if their names look like integers. */
export type JsonInput =
  | null
  | boolean
  | number
  | string
  | readonly JsonInput[]
  | { readonly [name: string]: JsonInput | undefined }
  | ReadonlyMap<string, JsonInput>;

/** Which label fits? */
export interface ChoiceQuestion {
  readonly type: "choice";
  readonly instructions: JsonInput;
  /** 2 to 64 descriptions by label; null means the label itself. */
  readonly criteria: Readonly<Record<string, JsonInput>> | ReadonlyMap<string, JsonInput>;
}

/** A yes/no question. */
export interface NoulQuestion {
  readonly type: "noul";
  readonly instructions: JsonInput;
  /** Descriptions of none, one or both outcomes. */
  readonly criteria?:
    | {
        readonly false?: JsonInput;
        readonly true?: JsonInput;
        readonly no?: JsonInput;
        readonly yes?: JsonInput;
      }
    | null
    | undefined;
}

/** Which level of the rubric fits? */
export interface ScoreQuestion {
  readonly type: "score";
  readonly instructions: JsonInput;
  /** Descriptions of 2 to 64 levels, lowest first. */
  readonly criteria: readonly JsonInput[];
}

export type Question = ChoiceQuestion | NoulQuestion | ScoreQuestion;

/** 1 to 32 questions by name. */
export type Questions = { readonly [name: string]: Question } | ReadonlyMap<string, Question>;

export interface DecideRequest<Q extends Questions = Questions> {
  /** The material that the questions are about. */
  readonly state: JsonInput;
  readonly questions: Q;
  /** The served model's id or one of its aliases. */
  readonly model?: string | undefined;
}

/** 2 to 64 texts, by label or in a list. */
export type Candidates =
  | readonly string[]
  | { readonly [label: string]: string }
  | ReadonlyMap<string, string>;

export interface RankRequest<C extends Candidates = Candidates> {
  readonly state: JsonInput;
  readonly candidates: C;
  /** The question by which candidates are ranked. */
  readonly question?: JsonInput | undefined;
  readonly model?: string | undefined;
}
