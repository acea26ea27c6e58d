import type { Report } from "../run/report.ts";

/** The whole report as JSON. */
export function jsonReport(report: Report): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}
