import junit, { type Builder, type TestCase } from "junit-report-builder";
import { bySubject } from "../clauses.ts";
import type { Report, Result } from "../run/report.ts";

// The package's types declare a member `default` that its CommonJS module does not have: the module itself is the
// builder.
const builder = junit as unknown as Builder;

/** Characters that XML cannot represent. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** The report as JUnit XML: one suite per subject, one case per clause. */
export function junitReport(report: Report): string {
  const root = builder.newBuilder().name(`conformance of ${report.server}, profile ${report.profile}`);
  for (const { title, results } of bySubject(report.results)) {
    const suite = root
      .testSuite()
      .name(title)
      .timestamp(report.startedAt)
      .property("seed", String(report.seed));
    for (const result of results) addCase(suite.testCase(), result);
  }
  const limits = root.testSuite().name("What is not checked").timestamp(report.startedAt);
  for (const { rule, why } of report.unobserved)
    limits.testCase().className("conformance.unobserved").name(rule).skipped().standardOutput(clean(why));
  return `${root.build()}\n`;
}

function addCase(testCase: TestCase, result: Result): void {
  const { id, clause, outcome, came, elapsedMs } = result;
  testCase
    .className(`conformance.${id.split(".")[0]}`)
    .name(`${id}: ${clause}`)
    .time(elapsedMs / 1000);
  if (outcome === "failed") testCase.failure(clean(came)).standardOutput(clean(describe(result)));
  if (outcome === "accepted")
    testCase.skipped().standardOutput(clean(`accepted: ${result.reason}\n${describe(result)}`));
  if (outcome === "skipped") testCase.skipped().standardOutput(clean(came));
}

function describe({ source, expected, came, curl }: Result): string {
  return [
    `source: ${source}`,
    `expected: ${expected}`,
    `came: ${came}`,
    ...(curl ? [`repeat: ${curl}`] : []),
  ].join("\n");
}

function clean(text: string): string {
  return text.replaceAll(FORBIDDEN, "\ufffd").replaceAll("]]>", "]] >"); // "]]>" would end a CDATA section
}
