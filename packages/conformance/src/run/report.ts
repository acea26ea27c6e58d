import { WrongUsage } from "../client/target.ts";
import type { Clause, Profile } from "../trial/clause.ts";
import type { UnobservedRule } from "./unobserved.ts";

/** `accepted`: broken, but listed in the baseline with a reason. */
export type Outcome = "passed" | "failed" | "accepted" | "skipped";

/** The result of one check. */
export interface Result extends Clause {
  readonly outcome: Outcome;
  /** What the server did instead (failed, accepted), or why the check was skipped; otherwise empty. */
  readonly came: string;
  /** A command line that repeats the request, if a single one failed. It has an environment variable for the key. */
  readonly curl: string | undefined;
  /** The baseline's reason; undefined for other outcomes. */
  readonly reason?: string | undefined;
  readonly elapsedMs: number;
}

/** The report of a whole run. */
export interface Report {
  readonly server: string;
  /** The served model's id; undefined if unknown. */
  readonly model: string | undefined;
  readonly profile: Profile;
  readonly isGentle: boolean;
  /** A run of the same clauses with the same seed sends the same requests. */
  readonly seed: number;
  /** The part of the clauses that this run checked, such as `2/4`; undefined for all. */
  readonly shard: string | undefined;
  readonly startedAt: string;
  readonly elapsedMs: number;
  readonly requests: number;
  /** One line about what prevented most of the checks; undefined if nothing did. */
  readonly obstacle: string | undefined;
  /**
   * 0: nothing broken that is not accepted. 1: clauses broken, or the run ended early. 2: nothing broken, but inference
   * or all checks were impossible.
   */
  readonly exitCode: 0 | 1 | 2;
  readonly counts: Readonly<Record<Outcome, number>>;
  /** In the order of the table of clauses. */
  readonly results: readonly Result[];
  /** Clauses that the baseline accepts as broken but that passed. */
  readonly fixed: readonly string[];
  /** Reasons for skipped clauses, with counts. */
  readonly skips: readonly Skips[];
  /** Rules of the contract that no client can observe and no check covers. */
  readonly unobserved: readonly UnobservedRule[];
}

export function countOutcomes(results: readonly Result[]): Readonly<Record<Outcome, number>> {
  const count = (outcome: Outcome) => results.filter((result) => result.outcome === outcome).length;
  return {
    passed: count("passed"),
    failed: count("failed"),
    accepted: count("accepted"),
    skipped: count("skipped"),
  };
}

/** Clauses skipped for the same reason. */
interface Skips {
  readonly reason: string;
  readonly clauses: readonly string[];
}

/** Reasons for skipped clauses, most frequent first. */
export function skipsIn(results: readonly Result[]): readonly Skips[] {
  const byReason = new Map<string, string[]>();
  for (const { id, outcome, came } of results)
    if (outcome === "skipped") byReason.set(came, [...(byReason.get(came) ?? []), id]);
  return [...byReason]
    .map(([reason, clauses]) => ({ reason, clauses }))
    .toSorted((one, other) => other.clauses.length - one.clauses.length);
}

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
