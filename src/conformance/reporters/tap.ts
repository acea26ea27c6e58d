import type { Report, Result } from "../report.ts";

/** The report in the Test Anything Protocol, version 14. @see https://testanything.org */
export function tapReport({ results }: Report): string {
  const lines = results.flatMap((result, index) => [testLine(result, index + 1), ...diagnosis(result)]);
  return ["TAP version 14", `1..${results.length}`, ...lines, ""].join("\n");
}

function testLine({ id, clause, outcome, came }: Result, number: number): string {
  const verdict = outcome === "failed" ? "not ok" : "ok";
  const directive = outcome === "skipped" ? ` # SKIP ${escaped(came)}` : "";
  return `${verdict} ${number} - ${id}: ${escaped(clause)}${directive}`;
}

function diagnosis({ outcome, source, expected, came, curl }: Result): readonly string[] {
  if (outcome !== "failed") return [];
  const fields = Object.entries({ source, expected, came, curl: curl ?? "" });
  // JSON strings are YAML strings
  return ["  ---", ...fields.map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`), "  ..."];
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("#", "\\#").replaceAll(/\s+/g, " ");
}
