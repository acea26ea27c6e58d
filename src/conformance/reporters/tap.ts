import type { Report, Result } from "../run/report.ts";

/** The report in the Test Anything Protocol, version 14. @see https://testanything.org */
export function tapReport({ results, seed, skips, unobserved, fixed, obstacle }: Report): string {
  const lines = results.flatMap((result, index) => [testLine(result, index + 1), ...diagnosis(result)]);
  const remarks = [
    `seed ${seed}`,
    ...(obstacle === undefined ? [] : [obstacle]),
    ...fixed.map((id) => `${id} passes now: remove it from the baseline`),
    ...skips.map(({ reason, clauses }) => `skipped ${clauses.length}: ${reason}`),
    ...unobserved.map(({ rule, why }) => `not observable: ${rule} ${why}`),
  ].map((remark) => `# ${remark.replaceAll(/\s+/g, " ").replaceAll(/\p{Cc}/gu, "\ufffd")}`);
  return ["TAP version 14", `1..${results.length}`, ...lines, ...remarks, ""].join("\n");
}

function testLine({ id, clause, outcome, came, reason = "" }: Result, number: number): string {
  const verdict = outcome === "failed" || outcome === "accepted" ? "not ok" : "ok";
  const directive =
    outcome === "skipped"
      ? ` # SKIP ${escaped(came)}`
      : outcome === "accepted"
        ? ` # TODO ${escaped(reason)}`
        : "";
  return `${verdict} ${number} - ${id}: ${escaped(clause)}${directive}`;
}

function diagnosis({ outcome, source, expected, came, curl }: Result): readonly string[] {
  if (outcome !== "failed" && outcome !== "accepted") return [];
  const fields = Object.entries({ source, expected, came, curl: curl ?? "" });
  // a JSON string is also a YAML string
  return ["  ---", ...fields.map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`), "  ..."];
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("#", "\\#").replaceAll(/\s+/g, " ");
}
