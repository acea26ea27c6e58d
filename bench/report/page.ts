import { readFile } from "node:fs/promises";
import path from "node:path";
import { packageRoot } from "../../src/package-root.ts";
import type { Report } from "./report.ts";
import { facts, type Table, tables } from "./terminal.ts";

/** Folder of the assets that a page contains; written by the build. */
const ASSETS = path.join(packageRoot, "dist/assets");

/** A chart with its explanation. */
interface Chart {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly isDrawn: (report: Report) => boolean;
}

const CHARTS: readonly Chart[] = [
  {
    id: "latency",
    title: "Latency distribution over HTTP",
    text: "Latency at each percentile. Solid: closed loop. Dashed: open loop, measured from the intended send time. A curve ends at the highest percentile that the number of requests supports.",
    isDrawn: ({ http }) => http !== null,
  },
  {
    id: "throughput",
    title: "Throughput against concurrency",
    text: "Answers per second by the number of concurrent callers.",
    isDrawn: ({ http }) => http !== null,
  },
  {
    id: "load",
    title: "Latency against load",
    text: "Open loop: requests sent at fixed times (Poisson), independent of earlier answers.",
    isDrawn: ({ http }) => http !== null,
  },
];

/** The report as one self-contained page. @throws Error if the build's assets are missing */
export async function pageHtml(report: Report): Promise<string> {
  const [library, libraryCss, script, css] = await Promise.all(
    ["uPlot.iife.min.js", "uPlot.min.css", "bench-page.js", "bench-page.css"].map((file) =>
      readFile(path.join(ASSETS, file), "utf8"),
    ),
  );
  const charts = CHARTS.filter(({ isDrawn }) => isDrawn(report));
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
    <title>decision bench, ${escaped(report.startedAt.slice(0, 10))}</title>
    <link rel="icon" href="data:,">
    <style>${libraryCss}</style>
    <style>${css}</style>
  </head>
  <body>
    <h1>decision bench</h1>
    <pre>${escaped(facts(report).join("\n"))}</pre>
${charts.map(chartHtml).join("\n")}
${tables(report).map(tableHtml).join("\n")}
    <script type="application/json" id="report">${JSON.stringify(report).replaceAll("<", "\\u003c")}</script>
    <script>${library}</script>
    <script>${script}</script>
  </body>
</html>
`;
}

function chartHtml({ id, title, text }: Chart): string {
  return `    <h2>${title}</h2>
    <p>${text}</p>
    <div class="chart" id="${id}" role="img" aria-label="${title}; its numbers are in the tables below"></div>`;
}

function tableHtml({ title, head, rows, note }: Table): string {
  const cells = (row: readonly string[]) => row.map(cellHtml).join("");
  return `    <h2>${escaped(title)}</h2>
    <div class="table"><table class="figures">
      <thead><tr>${head.map((name) => `<th scope="col">${escaped(name)}</th>`).join("")}</tr></thead>
      <tbody>
${rows.map((row) => `        <tr>${cells(row)}</tr>`).join("\n")}
      </tbody>
    </table></div>${note ? `\n    <p>${escaped(note)}</p>` : ""}`;
}

function cellHtml(text: string): string {
  if (text.startsWith("  ")) return `<td class="reason">${escaped(text.trim())}</td>`;
  return `<td>${escaped(text)}</td>`;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
