import type { Report, Result } from "../run/report.ts";

/** The report as GitHub workflow commands, which GitHub shows as annotations of a run. */
export function githubAnnotations(report: Report): string {
  const { results, obstacle, fixed } = report;
  const lines = [
    ...(obstacle === undefined ? [] : [command("error", "conformance", obstacle)]),
    ...results.filter(({ outcome }) => outcome === "failed").map((result) => annotation(report, result)),
    ...results
      .filter(({ outcome }) => outcome === "accepted")
      .map(({ id, came, reason = "" }) => command("notice", id, `accepted: ${reason}\ncame: ${came}`)),
    ...fixed.map((id) => command("notice", id, "passes now: remove it from the baseline")),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function annotation({ seed }: Report, { id, clause, expected, came, curl }: Result): string {
  const repeat = curl === undefined ? [] : [`repeat: ${curl}`];
  return command(
    "error",
    id,
    [clause, `expected: ${expected}`, `came: ${came}`, ...repeat, `seed: ${seed}`].join("\n"),
  );
}

/** @see https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions */
function command(name: string, title: string, message: string): string {
  return `::${name} title=${data(title).replaceAll(":", "%3A").replaceAll(",", "%2C")}::${data(message)}`;
}

function data(text: string): string {
  return text
    .replaceAll("%", "%25")
    .replaceAll("\r", "%0D")
    .replaceAll("\n", "%0A")
    .replaceAll(/\p{Cc}/gu, "\ufffd");
}
