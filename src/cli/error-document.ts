import { ServiceError } from "../errors.ts";

/** Whether a command line has --json, even if it cannot be parsed. */
export function isJsonAsked(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end < 0 ? argv.length : end).includes("--json");
}

/** The single line that a failing command prints with --json. */
export function errorDocument(error: Error): string {
  const { message } = error;
  if (!(error instanceof ServiceError)) return JSON.stringify({ error: { code: "INTERNAL", message } });
  const { kind: code, issues } = error;
  return JSON.stringify({ error: { code, message, ...(issues.length > 0 && { issues }) } });
}
