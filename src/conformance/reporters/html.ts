import { bySubject, type SubjectResults } from "../clauses.ts";
import type { Report, Result } from "../run/report.ts";
import { isDialect } from "../trial/clause.ts";
import { STYLE } from "./html-style.ts";

const WORDS = { passed: "kept", failed: "broken", accepted: "accepted", skipped: "skipped" } as const;

/** The report as one self-contained HTML page without scripts. */
export function htmlReport(report: Report): string {
  const { counts, obstacle, results } = report;
  const took = `${(report.elapsedMs / 1000).toFixed(1)} s`;
  const facts: readonly (readonly [string, string])[] = [
    ["Server", report.server],
    ["Model", report.model ?? "unknown"],
    ["Profile", `${report.profile}${report.isGentle ? ", gentle" : ""}`],
    ["Run", `${report.startedAt}, ${took}, ${report.requests} requests`],
    ["Clauses", `${sources(results)}${report.shard === undefined ? "" : `; part ${report.shard}`}`],
    ["Seed", String(report.seed)],
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${counts.failed === 0 ? "Kept" : `${counts.failed} broken`}: conformance of ${escaped(report.server)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Conformance <span class="verdict ${report.exitCode === 0 ? "passed" : "failed"}">${verdict(report)}</span></h1>
<dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`).join("")}</dl>
${obstacle === undefined ? "" : `<p class="obstacle">${escaped(obstacle)}</p>`}
<p class="counts">${(["passed", "failed", "accepted", "skipped"] as const).map((one) => `<span class="${one}"><b>${counts[one]}</b> ${WORDS[one]}</span>`).join(" ")}</p>
${brokenFirst(results)}
${fixed(report)}
${bySubject(results).map(subject).join("\n")}
${skipped(report)}
${unobserved(report)}
</main>
</body>
</html>
`;
}

function verdict({ exitCode, counts }: Report): string {
  if (exitCode === 0) return counts.accepted > 0 ? `${counts.accepted} broken, all accepted` : "all kept";
  return counts.failed > 0 ? `${counts.failed} broken` : "cannot tell";
}

/** The section of broken clauses, which comes first. */
function brokenFirst(results: readonly Result[]): string {
  const broken = results.filter(({ outcome }) => outcome === "failed");
  if (broken.length === 0) return "";
  return `<section><h2>Broken</h2>${broken.map((result) => clause(result, true)).join("")}</section>`;
}

function subject({ title, results }: SubjectResults): string {
  const kept = results.filter(({ outcome }) => outcome === "passed").length;
  return `<section><h2>${escaped(title)} <small>${kept} of ${results.length} kept</small></h2>${results.map((result) => clause(result, false)).join("")}</section>`;
}

function clause(result: Result, isOpen: boolean): string {
  const { id, outcome, expected, came, curl, source, elapsedMs } = result;
  const rows: readonly (readonly [string, string])[] = [
    ["Expected", prose(expected)],
    ...(came === "" ? [] : [[outcome === "skipped" ? "Why" : "Came", escaped(came)] as const]),
    ...(result.reason === undefined ? [] : [["Accepted", escaped(result.reason)] as const]),
    ...(curl === undefined ? [] : [["Repeat", `<pre>${escaped(curl)}</pre>`] as const]),
    ["Source", `${escaped(source)}, profile ${result.profile}, ${elapsedMs.toFixed(0)} ms`],
  ];
  return `<details class="${outcome}"${isOpen ? " open" : ""}><summary><span class="mark">${WORDS[outcome]}</span> <code>${escaped(id)}</code> <span>${prose(result.clause)}</span></summary><dl>${rows.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("")}</dl></details>`;
}

function fixed({ fixed: ids }: Report): string {
  if (ids.length === 0) return "";
  return `<section><h2>Fixed</h2><p>Remove these from the baseline: ${ids.map((id) => `<code>${escaped(id)}</code>`).join(", ")}</p></section>`;
}

function skipped({ skips }: Report): string {
  if (skips.length === 0) return "";
  const rows = skips.map(({ reason, clauses }) => `<dt>${clauses.length}</dt><dd>${escaped(reason)}</dd>`);
  return `<section><h2>Why clauses were skipped</h2><dl>${rows.join("")}</dl></section>`;
}

function unobserved({ unobserved: rules }: Report): string {
  const rows = rules.map(
    ({ rule, source, why }) => `<li>${prose(rule)} <small>${escaped(source)}</small><br>${prose(why)}</li>`,
  );
  return `<section><h2>What no client can observe</h2><ul>${rows.join("")}</ul></section>`;
}

function sources(results: readonly Result[]): string {
  const dialect = results.find(({ profile }) => isDialect(profile))?.profile;
  if (dialect !== undefined) return `${results.length} of the dialect ${dialect}`;
  const seed = results.filter(({ profile }) => profile === "seed").length;
  return `${seed} of the profile seed, ${results.length - seed} more of this contract`;
}

/** Escaped text with `code` between backticks. */
function prose(text: string): string {
  return escaped(text).replaceAll(/`([^`]*)`/g, "<code>$1</code>");
}

function escaped(text: string): string {
  return text
    .replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
    .replaceAll("\0", "\ufffd");
}
