import type { Clause, Profile } from "./clause.ts";

export type Outcome = "passed" | "failed" | "skipped";

/** What one check found out. */
export interface Result extends Clause {
  readonly outcome: Outcome;
  /** What came instead of what was expected (failed), or why nothing can be said (skipped); else empty. */
  readonly came: string;
  /** A command line that sends the request again, if one request is to blame. The key stands in it as a variable. */
  readonly curl: string | undefined;
  readonly elapsedMs: number;
}

/** A whole run. */
export interface Report {
  readonly server: string;
  /** The served model's id, if the server told it. */
  readonly model: string | undefined;
  readonly profile: Profile;
  readonly isGentle: boolean;
  readonly startedAt: string;
  readonly elapsedMs: number;
  readonly requests: number;
  /** One line about what kept most of the checks from saying anything; undefined where nothing did. */
  readonly obstacle: string | undefined;
  /** 0: all kept; 1: some broken, or the run ended early; 2: nothing broken, but nothing could be inferred or checked. */
  readonly exitCode: 0 | 1 | 2;
  readonly counts: Readonly<Record<Outcome, number>>;
  /** In the order of the table of clauses. */
  readonly results: readonly Result[];
}

export function countOutcomes(results: readonly Result[]): Readonly<Record<Outcome, number>> {
  const count = (outcome: Outcome) => results.filter((result) => result.outcome === outcome).length;
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
}
