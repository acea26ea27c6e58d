import type { Report } from "../run/report.ts";

export { githubAnnotations } from "./github.ts";
export { junitReport } from "./junit.ts";
export { progressLine, terminalReport } from "./terminal.ts";

/** The whole report as JSON. */
export function jsonReport(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}
