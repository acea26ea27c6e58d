import type { Report } from "./report.ts";

export async function pageHtml(report: Report): Promise<string> {
  return JSON.stringify(report);
}
