import type { QuestionReport } from "./question-report.ts";
import type { Comparison } from "./statistics/comparison.ts";
import type { Check } from "./threshold-file.ts";

/** The complete result of a run, as `--json` prints it. */
export interface Evaluation {
  readonly model: string;
  /** Rows of the input, and those that could not be answered. */
  readonly rows: number;
  readonly errors: readonly RowError[];
  readonly questions: readonly QuestionReport[];
  readonly comparison?: { readonly model: string; readonly questions: readonly Comparison[] } | undefined;
  readonly check?: CheckResult | undefined;
}

export interface CheckResult {
  readonly file: string;
  /** The model with which the threshold file was made. */
  readonly model: string;
  readonly tolerance: number;
  readonly isWorse: boolean;
  readonly questions: readonly Check[];
}

export interface RowError {
  readonly row: number;
  readonly code: string;
  readonly message: string;
}
