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
import { coveragePlot, reliabilityPlot } from "./evaluation-plots.ts";

/** Style sheet. Text has a contrast of at least 4.5 in both colour schemes. */
const STYLE = `
:root{--ground:#fff;--text:#1c2024;--soft:#5b6570;--line:#d9dee3;--panel:#f5f7f9;--mark:#1259a8;--bad:#b3202a;--heat:18 89 168}
@media(prefers-color-scheme:dark){:root{--ground:#14171a;--text:#e6e9ec;--soft:#9aa5b1;--line:#333a42;--panel:#1d2126;--mark:#7db8f5;--bad:#ff8b8b;--heat:90 150 220}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:62rem;margin:0 auto;padding:2rem 1rem 4rem}
h1{font-size:1.7rem;margin:0 0 .5rem}
h2{font-size:1.3rem;margin:2.5rem 0 .3rem;border-top:1px solid var(--line);padding-top:1rem}
h3{font-size:1rem;margin:1.5rem 0 .4rem}
p{margin:.3rem 0}
.note{border-left:4px solid var(--bad);background:var(--panel);padding:.4rem .8rem}
.bad{color:var(--bad)}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.92em}
th,td{padding:.2rem .7rem;border-bottom:1px solid var(--line);text-align:right;font-variant-numeric:tabular-nums}
th{color:var(--soft);font-weight:600}
th:first-child{text-align:left}
td.heat{background:rgb(var(--heat)/var(--share))}
.plots{display:flex;flex-wrap:wrap;gap:1rem 2rem}
figure{margin:0;max-width:100%}
figcaption{font-weight:600;margin:1rem 0 .3rem}
svg{max-width:100%;height:auto;font:12px system-ui,sans-serif}
svg text{fill:var(--soft)}
.axis{stroke:var(--line);fill:none}
.ideal{stroke:var(--soft);stroke-dasharray:4 4;fill:none}
.curve{stroke:var(--mark);stroke-width:2;fill:none}
.dot{fill:var(--mark)}
.band{fill:var(--mark);opacity:.18}
`;

/** The evaluation as one self-contained HTML page without scripts. */
export function evaluationPage(evaluation: Evaluation): string {
  const { model, rows, questions } = evaluation;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Evaluation of ${escaped(model)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Evaluation</h1>
<p>${rows} rows, ${escaped(model)}. Intervals are 95 % Wilson intervals.</p>
${errorsText(evaluation).map(note).join("")}
${checkSection(evaluation)}
${comparisonSection(evaluation)}
${questions.map(questionSection).join("\n")}
</main>
</body>
</html>
`;
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
${table(...thresholdTable(report))}
<h3>Labels</h3>
${table(...labelTable(report))}
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
  return wide(`<tr><th></th>${labels.map(headCell).join("")}</tr>${lines.join("")}`);
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
${table(["question", "first", "second", "only first right", "only second right", "verdict"], rows)}</section>`;
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
${table(["question", "figure", "before", "now", ""], rows)}</section>`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = rows.map(
    ([first = "", ...rest]) =>
      `<tr><th scope="row">${escaped(first)}</th>${rest.map((cell) => `<td>${escaped(cell)}</td>`).join("")}</tr>`,
  );
  return wide(`<tr>${head.map(headCell).join("")}</tr>${lines.join("")}`);
}

const wide = (rows: string) => `<div class="wide"><table>${rows}</table></div>`;
const headCell = (text: string) => `<th scope="col">${escaped(text)}</th>`;
const note = (text: string) => `<p class="note">${escaped(text)}</p>`;
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? "");
