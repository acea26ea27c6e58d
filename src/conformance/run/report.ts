import type { Clause, Profile } from "../trial/clause.ts";
import type { UnobservedRule } from "./unobserved.ts";

/** `accepted`: broken, and the baseline says why that is taken. */
export type Outcome = "passed" | "failed" | "accepted" | "skipped";

/** What one check found out. */
export interface Result extends Clause {
  readonly outcome: Outcome;
  /** What came instead of what was expected (failed, accepted), or why nothing can be said (skipped); else empty. */
  readonly came: string;
  /** A command line that sends the request again, if one request is to blame. The key stands in it as a variable. */
  readonly curl: string | undefined;
  /** Why it is accepted; undefined for any other outcome. */
  readonly reason?: string | undefined;
  readonly elapsedMs: number;
}

/** A whole run. */
export interface Report {
  readonly server: string;
  /** The served model's id, if the server told it. */
  readonly model: string | undefined;
  readonly profile: Profile;
  readonly isGentle: boolean;
  /** Another run with it, of the same clauses, sends the same requests. */
  readonly seed: number;
  /** Which part of the clauses this run checked, as `2/4`; undefined for all. */
  readonly shard: string | undefined;
  readonly startedAt: string;
  readonly elapsedMs: number;
  readonly requests: number;
  /** One line about what kept most of the checks from saying anything; undefined where nothing did. */
  readonly obstacle: string | undefined;
  /** 0: all kept, or what is broken is accepted; 1: some broken, or the run ended early; 2: nothing broken, but nothing could be inferred or checked. */
  readonly exitCode: 0 | 1 | 2;
  readonly counts: Readonly<Record<Outcome, number>>;
  /** In the order of the table of clauses. */
  readonly results: readonly Result[];
  /** Clauses that the baseline accepts as broken and that are kept now. */
  readonly fixed: readonly string[];
  /** Why clauses were skipped, and how many for each reason. */
  readonly skips: readonly Skips[];
  /** Rules of the contract that no client can observe: no outcome says anything of them. */
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

/** Skipped clauses that have one reason in common. */
export interface Skips {
  readonly reason: string;
  readonly clauses: readonly string[];
}

/** The commonest reason first. */
export function skipsIn(results: readonly Result[]): readonly Skips[] {
  const byReason = new Map<string, string[]>();
  for (const { id, outcome, came } of results)
    if (outcome === "skipped") byReason.set(came, [...(byReason.get(came) ?? []), id]);
  return [...byReason]
    .map(([reason, clauses]) => ({ reason, clauses }))
    .toSorted((one, other) => other.clauses.length - one.clauses.length);
}
