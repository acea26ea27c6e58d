import type { Report, Result } from "../run/report.ts";

const SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";
/** File name for SARIF viewers, which need one. A running server has no file. */
const PLACE = "conformance-report";

/** Broken and accepted clauses as SARIF 2.1.0. @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/ */
export function sarifReport(report: Report): string {
  const { results } = report;
  const run = {
    tool: {
      driver: {
        name: "decision conformance",
        rules: results.map(({ id, clause, expected, source }) => ({
          id,
          shortDescription: { text: clause },
          help: { text: `Expected: ${expected}. Source: ${source}.` },
        })),
      },
    },
    invocations: [
      {
        executionSuccessful: report.obstacle === undefined,
        exitCode: report.exitCode,
        startTimeUtc: report.startedAt,
        ...(report.obstacle === undefined
          ? {}
          : { toolExecutionNotifications: [{ level: "error", message: { text: report.obstacle } }] }),
      },
    ],
    properties: {
      server: report.server,
      profile: report.profile,
      seed: report.seed,
      counts: report.counts,
      unobserved: report.unobserved,
    },
    results: results.flatMap((result, ruleIndex) => found(report, result, ruleIndex)),
  };
  return `${JSON.stringify({ $schema: SCHEMA, version: "2.1.0", runs: [run] }, null, 2)}\n`;
}

function found(
  report: Report,
  { id, outcome, came, curl, reason }: Result,
  ruleIndex: number,
): readonly unknown[] {
  if (outcome !== "failed" && outcome !== "accepted") return [];
  const text = [came, ...(curl === undefined ? [] : [`Repeat: ${curl}`])].join("\n");
  return [
    {
      ruleId: id,
      ruleIndex,
      level: outcome === "failed" ? "error" : "note",
      message: { text },
      locations: [
        {
          physicalLocation: { artifactLocation: { uri: PLACE } },
          logicalLocations: [{ fullyQualifiedName: `${report.server} ${id}`, kind: "resource" }],
        },
      ],
      partialFingerprints: { "clause/v1": id },
      suppressions:
        outcome === "accepted" ? [{ kind: "external", status: "accepted", justification: reason ?? "" }] : [],
    },
  ];
}
