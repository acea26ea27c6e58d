import type { Evaluation } from "../../evaluation/evaluation.ts";
import {
  confusions,
  errorsText,
  FIGURE_NAMES,
  labelTable,
  percent,
  proportionText,
  thresholdSentences,
  thresholdTable,
  verdict,
} from "../../evaluation/figures-text.ts";
import type { QuestionReport } from "../../evaluation/question-report.ts";
import { alignedRows } from "./model-text.ts";
import { plainLine } from "./plain-text.ts";

/** The most labels for which a terminal shows the whole matrix. Chosen: its columns fit 80 characters. */
const MATRIX_LABELS = 8;
const SHOWN_CONFUSIONS = 10;
const LABEL_WIDTH = 24;
const BAR_CELLS = 20;

/** The evaluation as text for a terminal. */
export function evaluationText(evaluation: Evaluation): string {
  const { model, rows, questions } = evaluation;
  return [
    [`${rows} rows, ${model}`, ...errorsText(evaluation)],
    ...questions.map(questionLines),
    comparisonLines(evaluation),
    checkLines(evaluation),
  ]
    .filter((part) => part.length > 0)
    .map((part) => part.join("\n"))
    .join("\n\n");
}

function questionLines(report: QuestionReport): string[] {
  const { name, accuracy, calibration, meanAbsoluteError, notes } = report;
  return [
    `${plainLine(name)}: right in ${proportionText(accuracy)}`,
    ...(meanAbsoluteError === undefined
      ? []
      : [`  mean distance in levels: ${meanAbsoluteError.toFixed(2)}`]),
    ...table(...labelTable(report)),
    ...confusionLines(report),
    `  calibration error: ${percent(calibration.error)}`,
    ...table(
      ["confidence", "rows", "mean", "right", ""],
      calibration.bins
        .filter((bin) => bin.rows > 0)
        .map(({ from, to, rows, confidence, accuracy: right }) => [
          `${from} to ${to}`,
          String(rows),
          percent(confidence),
          percent(right),
          "#".repeat(Math.round(BAR_CELLS * (right ?? 0))).padEnd(BAR_CELLS, "."),
        ]),
    ),
    ...table(...thresholdTable(report)),
    ...thresholdSentences(report).map((sentence) => `  ${sentence}`),
    ...notes.map((note) => `  note: ${plainLine(note)}`),
  ];
}

function confusionLines({ labels, confusion }: QuestionReport): string[] {
  if (labels.length <= MATRIX_LABELS)
    return table(
      ["label \\ answer", ...labels.map(({ label }) => label)],
      labels.map(({ label }, at) => [label, ...(confusion[at] ?? []).map(String)]),
    );
  const found = confusions(labels, confusion).slice(0, SHOWN_CONFUSIONS);
  return table(
    ["label", "answered as", "rows"],
    found.map(({ truth, answer, count }) => [truth, answer, String(count)]),
  );
}

function comparisonLines({ model, comparison }: Evaluation): string[] {
  if (comparison === undefined) return [];
  return [
    `compared: first ${model}, second ${comparison.model}`,
    ...comparison.questions.flatMap((one) => [
      `  ${plainLine(one.first === one.second ? one.first : `${one.first} and ${one.second}`)}: ${verdict(one)}`,
      `    first: right in ${proportionText(one.firstAccuracy)}; only the first in ${one.onlyFirst}`,
      `    second: right in ${proportionText(one.secondAccuracy)}; only the second in ${one.onlySecond}`,
    ]),
  ];
}

function checkLines({ check }: Evaluation): string[] {
  if (check === undefined) return [];
  return [
    `check of ${plainLine(check.file)} (${plainLine(check.model)}): ${check.isWorse ? "worse" : "passed"}`,
    ...check.questions.flatMap(({ name, figures, notes }) => [
      ...figures.map(
        ({ what, before, now, isWorse }) =>
          `  ${plainLine(name)}: ${FIGURE_NAMES[what]} ${percent(before)} -> ${percent(now)}${isWorse ? ", worse" : ""}`,
      ),
      ...notes.map((note) => `  ${plainLine(name)}: ${note}`),
    ]),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const lines = [head, ...rows].map((line) => line.map(cell));
  return alignedRows(lines, "right").map((line) => `    ${line}`);
}

function cell(text: string): string {
  const line = plainLine(text);
  return line.length > LABEL_WIDTH && !/ of \d+$/.test(line) ? `${line.slice(0, LABEL_WIDTH - 1)}…` : line;
}
