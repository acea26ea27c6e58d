import { bySubject } from "../clauses.ts";
import type { Report, Result } from "../run/report.ts";
import { isDialect } from "../trial/clause.ts";

interface Colours {
  readonly isColoured: boolean;
}

const STYLES = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 } as const;
const SIGNS = {
  passed: ["ok  ", "green"],
  failed: ["FAIL", "red"],
  accepted: ["took", "yellow"],
  skipped: ["skip", "yellow"],
} as const;
/** Longer command lines are left out; the other reports have them. Chosen. */
const LONGEST_CURL = 3000;

/** The report as text: failed and skipped clauses in full, the rest as counts per subject. */
export function terminalReport(report: Report, { isColoured }: Colours): string {
  const paint = (style: keyof typeof STYLES, text: string) =>
    isColoured ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text;
  const { results, counts, obstacle } = report;
  const lines = [
    `${paint("bold", report.server)}  ${report.model ?? "no model is known"}`,
    `profile ${report.profile}${report.isGentle ? ", gentle" : ""}: ${sourcesOf(results)}`,
    "",
  ];
  const common = commonReasons(results);
  // a common cause is printed once, below
  if (!isOneCause(report)) {
    for (const { title, results: own } of bySubject(results)) {
      const passed = own.filter(({ outcome }) => outcome === "passed").length;
      lines.push(`${paint("bold", title)}  ${paint("dim", `${passed} of ${own.length} kept`)}`);
      for (const result of own.filter(({ came }) => !common.has(came)))
        lines.push(...resultLines(result, paint));
    }
    lines.push("");
  }
  for (const [reason, skipped] of common)
    if (reason !== obstacle) lines.push(`${paint("yellow", `skip ${skipped} clauses`)}: ${oneLine(reason)}`);
  if (obstacle !== undefined) lines.push(paint("yellow", oneLine(obstacle)));
  for (const id of report.fixed) lines.push(paint("green", `${id} passes now: remove it from the baseline`));
  if (counts.failed > 0) lines.push(paint("dim", `To repeat this run: --seed ${report.seed}`));
  const took = `${(report.elapsedMs / 1000).toFixed(1)} s, ${report.requests} requests`;
  const failed = counts.failed > 0 ? paint("red", `${counts.failed} broken`) : "0 broken";
  const accepted = counts.accepted > 0 ? `${counts.accepted} accepted, ` : "";
  const reasons = report.skips.length > 1 ? ` for ${report.skips.length} reasons` : "";
  const skipped = `${counts.skipped} skipped${reasons}`;
  lines.push(`${paint("green", `${counts.passed} kept`)}, ${failed}, ${accepted}${skipped}; ${took}`);
  const blind = `${report.unobserved.length} rules cannot be observed by a client; --junit and --json list them`;
  if (!isOneCause(report)) lines.push(paint("dim", blind));
  return `${lines.join("\n")}\n`;
}

/** Reasons shared by many skipped clauses, with counts. Each is printed once. */
function commonReasons(results: readonly Result[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { outcome, came } of results)
    if (outcome === "skipped") counts.set(came, (counts.get(came) ?? 0) + 1);
  return new Map([...counts].filter(([, count]) => count > MOST_ALIKE));
}
/** Up to so many clauses with the same reason are listed one by one. Chosen. */
const MOST_ALIKE = 8;

/** One line of progress for a result. */
export function progressLine({ id, outcome }: Result, done: number, total: number): string {
  const mark = outcome === "passed" ? "" : ` ${SIGNS[outcome][0]}`;
  return `${String(done).padStart(String(total).length)}/${total} ${id}${mark}`;
}

function resultLines(
  { id, outcome, clause, source, expected, came, curl, reason }: Result,
  paint: (style: keyof typeof STYLES, text: string) => string,
): readonly string[] {
  if (outcome === "passed") return [];
  const [sign, style] = SIGNS[outcome];
  const head = `  ${paint(style, sign)} ${paint("bold", id)}  ${clause} ${paint("dim", `(${source})`)}`;
  if (outcome === "skipped") return [head, `       ${oneLine(came)}`];
  const accepted = reason === undefined ? [] : [`       accepted  ${oneLine(reason)}`];
  const command = (curl?.length ?? 0) > LONGEST_CURL ? "the command is long: see --junit or --json" : curl;
  const repeat = command === undefined ? [] : [`       repeat    ${oneLine(command)}`];
  return [head, `       expected  ${expected}`, `       came      ${oneLine(came)}`, ...accepted, ...repeat];
}

/** Removes control characters, since a server may send escape sequences for the terminal. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/\p{Cc}/gu, "\ufffd");
}

function isOneCause({ results, counts }: Report): boolean {
  return (
    results.length > 1 &&
    (counts.failed === results.length || counts.skipped === results.length) &&
    new Set(results.map(({ came }) => came)).size === 1
  );
}

function sourcesOf(results: readonly Result[]): string {
  const dialect = results.find(({ profile }) => isDialect(profile))?.profile;
  if (dialect !== undefined) return `${results.length} clauses of the dialect ${dialect}`;
  const seed = results.filter(({ profile }) => profile === "seed").length;
  const parts = [`${seed} clauses of the profile seed`, `${results.length - seed} of this contract`];
  return parts.filter((part) => !part.startsWith("0 ")).join(", ");
}
