import { invalidOption } from "../errors.ts";
import { isRecord, memberOf, parsedJson } from "../records.ts";
import type { QuestionReport } from "./question-report.ts";
import { atThreshold } from "./statistics/coverage.ts";
import { type Judged, rightOf } from "./statistics/judged.ts";

const FORMAT = "decision-thresholds/1";

/** Thresholds of questions, with their data and figures. */
export interface ThresholdFile {
  readonly format: typeof FORMAT;
  readonly model: string;
  readonly target: number;
  readonly questions: readonly QuestionThreshold[];
}

export interface QuestionThreshold {
  readonly name: string;
  /** Digest of the rows and labels. */
  readonly data: string;
  /** Digest of the question. */
  readonly question: string;
  readonly rows: number;
  readonly accuracy: number;
  /** null if no threshold reaches the target. */
  readonly threshold: number | null;
  /** Coverage with the threshold on these rows. */
  readonly coverage: number;
  readonly keptAccuracy: number;
}

/** Creates a threshold file. @param digests of data and question, by question name */
export function thresholdFile(
  model: string,
  target: number,
  reports: readonly QuestionReport[],
  digests: (name: string) => { readonly data: string; readonly question: string },
): ThresholdFile {
  const questions = reports.map(({ name, accuracy, chosen }) => ({
    name,
    ...digests(name),
    rows: accuracy.count,
    accuracy: accuracy.share,
    threshold: chosen?.threshold ?? null,
    coverage: chosen?.coverage ?? 0,
    keptAccuracy: chosen?.accuracy.share ?? 0,
  }));
  return { format: FORMAT, model, target, questions };
}

/** Parses a threshold file. @throws ServiceError INVALID_OPTION if the text is not one */
export function readThresholdFile(text: string, file: string): ThresholdFile {
  const value = parsedJson(text);
  const questions = memberOf(value, "questions");
  if (memberOf(value, "format") === FORMAT && Array.isArray(questions) && questions.every(isThreshold))
    return value as ThresholdFile; // every figure has been looked at
  throw invalidOption(`--check needs a file written by --thresholds; ${file} is not one.`);
}

function isThreshold(one: unknown): boolean {
  if (!isRecord(one)) return false;
  const { name, data, question, rows, accuracy, threshold, coverage, keptAccuracy } = one;
  return (
    [name, data, question].every((text) => typeof text === "string") &&
    [rows, accuracy, coverage, keptAccuracy].every(Number.isFinite) &&
    (threshold === null || Number.isFinite(threshold))
  );
}

/** A figure of the file and the same figure measured now. Both are shares. */
export interface CheckedFigure {
  readonly what: "accuracy" | "coverage" | "keptAccuracy";
  readonly before: number;
  readonly now: number;
  readonly isWorse: boolean;
}

export interface Check {
  readonly name: string;
  readonly figures: readonly CheckedFigure[];
  readonly isWorse: boolean;
  readonly notes: readonly string[];
}

/**
 * Compares a question with the file: its accuracy, and the coverage and accuracy at the file's threshold. Each may fall
 * by `tolerance`.
 *
 * @param before the question's entry; undefined if the file has none
 */
export function check(
  name: string,
  before: QuestionThreshold | undefined,
  rows: readonly Judged[],
  digests: { readonly data: string; readonly question: string },
  tolerance: number,
): Check {
  if (before === undefined)
    return { name, figures: [], isWorse: false, notes: ["The file does not contain this question."] };
  const figure = (what: CheckedFigure["what"], then: number, now: number): CheckedFigure => ({
    what,
    before: then,
    now,
    isWorse: now < then - tolerance - 1e-12, // tolerance for rounding
  });
  const figures = [figure("accuracy", before.accuracy, rightOf(rows) / rows.length)];
  if (before.threshold !== null) {
    const { coverage, accuracy } = atThreshold(rows, before.threshold);
    figures.push(figure("coverage", before.coverage, coverage));
    // without rows the accuracy is not worse; the coverage shows the loss
    if (accuracy.count > 0) figures.push(figure("keptAccuracy", before.keptAccuracy, accuracy.share));
  }
  const notes: string[] = [];
  if (before.question !== digests.question)
    notes.push("The question has changed since the file was written.");
  if (before.data !== digests.data) notes.push("The labelled rows have changed since the file was written.");
  return { name, figures, isWorse: figures.some(({ isWorse }) => isWorse), notes };
}
