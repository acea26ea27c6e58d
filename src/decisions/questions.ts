/** The members of a validated systemone body that decisions are made from; any-JSON ones are JsonValues. */
export interface SystemoneBody {
  readonly state: unknown;
  readonly questions: Readonly<Record<string, Question>>;
  readonly model?: unknown;
}

export type Question = ChoiceQuestion | NoulQuestion | ScoreQuestion;
export type QuestionType = Question["type"];

export interface ChoiceQuestion {
  readonly type: "choice";
  readonly instructions: unknown;
  /** Label to description. */
  readonly criteria: Readonly<Record<string, unknown>>;
}

export interface NoulQuestion {
  readonly type: "noul";
  readonly instructions: unknown;
  /** Descriptions by `false` or `no`, `true` or `yes`. */
  readonly criteria?: Readonly<Record<string, unknown>> | null;
}

export interface ScoreQuestion {
  readonly type: "score";
  readonly instructions: unknown;
  /** Descriptions of the levels, lowest first. */
  readonly criteria: readonly unknown[];
}
