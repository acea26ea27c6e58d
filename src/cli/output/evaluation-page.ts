import type { Evaluation } from "../../evaluation/evaluation.ts";
import {
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
import type { Calibration } from "../../evaluation/statistics/calibration.ts";
import type { CoveragePoint } from "../../evaluation/statistics/coverage.ts";
import { escaped, htmlPage, htmlTable, plot, wideTable } from "./html.ts";

/** The evaluation as one self-contained HTML page without scripts. */
export function evaluationPage(evaluation: Evaluation): string {
  const { model, rows, questions } = evaluation;
  return htmlPage(
    `Evaluation of ${model}`,
    `<h1>Evaluation</h1>
<p>${rows} rows, ${escaped(model)}. Intervals are 95 % Wilson intervals.</p>
${errorsText(evaluation).map(note).join("")}
${checkSection(evaluation)}
${comparisonSection(evaluation)}
${questions.map(questionSection).join("\n")}`,
  );
}

function questionSection(report: QuestionReport): string {
  const { name, accuracy, calibration, labels, confusion, meanAbsoluteError, notes } = report;
  const distance =
    meanAbsoluteError === undefined ? "" : `<p>Mean distance in levels: ${meanAbsoluteError.toFixed(2)}.</p>`;
  return `<section>
<h2>${escaped(name)}</h2>
<p>Right in <strong>${proportionText(accuracy)}</strong>.</p>
${distance}
${thresholdSentences(report)
  .map((sentence) => `<p>${escaped(capital(sentence))}.</p>`)
  .join("")}
${notes.map(note).join("")}
<div class="plots">
<figure><figcaption>Reliability: calibration error ${percent(calibration.error)}</figcaption>${reliabilityPlot(calibration)}</figure>
<figure><figcaption>Accuracy of the answered rows</figcaption>${coveragePlot(report)}</figure>
</div>
<h3>Thresholds</h3>
${htmlTable(...thresholdTable(report))}
<h3>Labels</h3>
${htmlTable(...labelTable(report))}
<h3>Confusion matrix: labels in rows, answers in columns</h3>
${matrix(
  labels.map(({ label }) => label),
  confusion,
)}
</section>`;
}

function matrix(labels: readonly string[], counts: QuestionReport["confusion"]): string {
  const lines = labels.map((label, at) => {
    const line = counts[at] ?? [];
    const total = Math.max(
      1,
      line.reduce((sum, count) => sum + count, 0),
    );
    const cells = line.map(
      (count) => `<td class="heat" style="--share:${((0.5 * count) / total).toFixed(2)}">${count}</td>`,
    );
    return `<tr><th scope="row">${escaped(label)}</th>${cells.join("")}</tr>`;
  });
  return wideTable(["", ...labels], lines.join(""));
}

function comparisonSection({ model, comparison }: Evaluation): string {
  if (comparison === undefined) return "";
  const rows = comparison.questions.map((one) => [
    one.first === one.second ? one.first : `${one.first}, ${one.second}`,
    proportionText(one.firstAccuracy),
    proportionText(one.secondAccuracy),
    String(one.onlyFirst),
    String(one.onlySecond),
    verdict(one),
  ]);
  return `<section><h2>Comparison</h2><p>First: ${escaped(model)}. Second: ${escaped(comparison.model)}. Exact McNemar test.</p>
${htmlTable(["question", "first", "second", "only first right", "only second right", "verdict"], rows)}</section>`;
}

function checkSection({ check }: Evaluation): string {
  if (check === undefined) return "";
  const rows = check.questions.flatMap(({ name, figures }) =>
    figures.map(({ what, before, now, isWorse }) => [
      name,
      FIGURE_NAMES[what],
      percent(before),
      percent(now),
      isWorse ? "worse" : "",
    ]),
  );
  const notes = check.questions.flatMap(({ name, notes: told }) =>
    told.map((one) => note(`${name}: ${one}`)),
  );
  return `<section><h2>Check: <span class="${check.isWorse ? "bad" : ""}">${check.isWorse ? "worse" : "passed"}</span></h2>
<p>Against ${escaped(check.file)}, ${escaped(check.model)}.</p>${notes.join("")}
${htmlTable(["question", "figure", "before", "now", ""], rows)}</section>`;
}

/** Accuracy against confidence: one dot per bin, larger for more rows. On the dashed line both are equal. */
function reliabilityPlot({ bins, error }: Calibration): string {
  const most = Math.max(1, ...bins.map(({ rows }) => rows));
  const label = `Reliability plot, calibration error ${error.toFixed(3)}`;
  return plot(label, shares("mean confidence"), shares("share right"), WIDTH, ({ line, dot }) => {
    const dots = bins.flatMap(({ rows, confidence = 0, accuracy = 0 }) => {
      const radius = 3 + 7 * Math.sqrt(rows / most);
      const title = `${rows} rows: confidence ${confidence.toFixed(3)}, right ${accuracy.toFixed(3)}`;
      return rows === 0 ? [] : [dot(confidence, accuracy, radius, title)];
    });
    const equal = [
      [0, 0],
      [1, 1],
    ] as const;
    return line("ideal", equal) + dots.join("");
  });
}

/** Accuracy against coverage, with its confidence interval. The dashed line is the target. */
function coveragePlot({ curve, target, chosen }: QuestionReport): string {
  const points = (share: (point: CoveragePoint) => number) =>
    curve.map((point) => [point.coverage, share(point)] as const);
  const label = "Accuracy against coverage";
  return plot(label, shares("share of rows kept"), shares("share right"), WIDTH, ({ line, dot }) =>
    [
      line("band", [
        ...points(({ accuracy }) => accuracy.high),
        ...points(({ accuracy }) => accuracy.low).reverse(),
      ]),
      line("ideal", [
        [0, target],
        [1, target],
      ]),
      line(
        "curve",
        points(({ accuracy }) => accuracy.share),
      ),
      chosen && dot(chosen.coverage, chosen.accuracy.share, 5, `confidence at least ${chosen.threshold}`),
    ].join(""),
  );
}

const WIDTH = 400;
const shares = (label: string) => ({ label, ticks: [0, 0.25, 0.5, 0.75, 1] });

const note = (text: string) => `<p class="note">${escaped(text)}</p>`;
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
