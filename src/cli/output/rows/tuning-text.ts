import type { RowError } from "../../../evaluation/evaluation.ts";
import { errorsText, percent } from "../../../evaluation/figures-text.ts";
import type { TuningChoice } from "../../../tuning/fit/choose.ts";
import { plainLine } from "../plain-text.ts";

const KINDS = { scale: "a scale and a bias for each label", head: "scale, bias and a linear head" } as const;

/** The result for a question. */
interface ShownQuestion {
  readonly name: string;
  readonly choice: TuningChoice | undefined;
  readonly isKept: boolean;
  readonly notes: readonly string[];
}

/** The result as text for a terminal. */
export function tuningText(result: {
  readonly model: string;
  readonly precision: string;
  readonly rows: number;
  readonly errors: readonly RowError[];
  readonly questions: readonly ShownQuestion[];
}): string {
  const { model, precision, rows, questions } = result;
  return [[`${rows} rows, ${model}, ${precision}`, ...errorsText(result)], ...questions.map(questionLines)]
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function questionLines({ name, choice, isKept, notes }: ShownQuestion): string[] {
  const what = isKept && choice !== undefined ? KINDS[choice.kind] : "no correction";
  return [
    `${plainLine(name)}: ${what}`,
    ...(choice === undefined ? [] : figureLines(choice)),
    ...notes.map((note) => `  note: ${plainLine(note)}`),
  ];
}

function figureLines({ before, after, folds, rows, kind }: TuningChoice): string[] {
  const line = (what: string, then: string, now: string) =>
    `    ${what.padEnd(20)}${then.padStart(12)}${folds === 0 ? "" : now.padStart(12)}`;
  return [
    line("", "uncorrected", kind === "head" ? "with head" : "scaled"),
    line("right", percent(before.accuracy), percent(after.accuracy)),
    line("calibration error", percent(before.calibration_error), percent(after.calibration_error)),
    line("log loss", before.log_loss.toFixed(3), after.log_loss.toFixed(3)),
    ...(folds === 0 ? [] : [`  measured on ${rows} rows by cross-validation (${folds} folds)`]),
  ];
}
