import { WrongUsage } from "../client/target.ts";
import type { Report } from "./report.ts";

const FORMAT = "decision-conformance-baseline-v1";
/** The most characters of `came` in a generated reason. Chosen. */
const LONGEST_CAME = 200;

/** Broken clauses that are accepted: clause id to reason. */
export type Baseline = ReadonlyMap<string, string>;

/**
 * Parses a baseline file, written by `writeBaseline` and perhaps edited by hand.
 *
 * @throws WrongUsage
 */
export function readBaseline(text: string, ids: ReadonlySet<string>): Baseline {
  const form = `a baseline must be {"format": "${FORMAT}", "accepted": [{"clause": ..., "reason": ...}]}`;
  const { format, accepted } = parsed(text, form);
  if (format !== FORMAT || !Array.isArray(accepted)) throw new WrongUsage(form);
  const known = new Map<string, string>();
  for (const entry of accepted) {
    const { clause, reason } = isRecord(entry) ? entry : {};
    if (typeof clause !== "string" || typeof reason !== "string") throw new WrongUsage(form);
    if (!ids.has(clause))
      throw new WrongUsage(`the baseline accepts ${JSON.stringify(clause)}, but there is no such clause`);
    if (reason.trim() === "") throw new WrongUsage(`the baseline gives no reason for accepting ${clause}`);
    if (known.has(clause)) throw new WrongUsage(`the baseline has ${clause} twice`);
    known.set(clause, reason);
  }
  return known;
}

/** A baseline of all clauses that are broken now. Each keeps its reason; a new one gets what the server answered. */
export function writeBaseline({ results }: Report): string {
  const accepted = results
    .filter(({ outcome }) => outcome === "failed" || outcome === "accepted")
    .map(({ id, came, reason }) => ({ clause: id, reason: reason ?? foundReason(came) }));
  return `${JSON.stringify({ format: FORMAT, accepted }, null, 2)}\n`;
}

function foundReason(came: string): string {
  return `Accepted as found: ${came.length > LONGEST_CAME ? `${came.slice(0, LONGEST_CAME)}...` : came}`;
}

function parsed(text: string, form: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // reported below
  }
  throw new WrongUsage(form);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
