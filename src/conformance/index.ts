import { ALL_CHECKS } from "./clauses.ts";
import { readTarget, WrongUsage } from "./client/target.ts";
import { readBaseline } from "./run/baseline.ts";
import type { Report, Result } from "./run/report.ts";
import { run } from "./run/runner.ts";
import { selectChecks } from "./run/select.ts";
import { PROFILES, type Profile } from "./trial/clause.ts";
import { MOST_SEED, randomSeed } from "./trial/salts.ts";

export { WrongUsage } from "./client/target.ts";
export type { Outcome, Report, Result } from "./run/report.ts";
export { type Clause, PROFILES, type Profile } from "./trial/clause.ts";

export interface ConformanceOptions {
  /** Where the server is: `http://127.0.0.1:8700`, with a path in front if it has one. */
  readonly baseUrl: string;
  /**
   * `seed`: rules that every implementation must keep; `full` (default): also the rules that this contract decides; the name of a
   * dialect: its rules, below the dialect's base address.
   */
  readonly profile?: Profile;
  /** Ids of clauses, their beginnings (`rank`), or patterns (`*.order`). */
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** `2/4`: checks the second of four parts of the clauses. */
  readonly shard?: string | undefined;
  /** Makes a run repeat: 0 to 2 ** 32 - 1; a random one by default, which the report tells. */
  readonly seed?: number | undefined;
  /** The text of a baseline: broken clauses that are accepted, each with its reason. */
  readonly baseline?: string | undefined;
  /** No floods, no large bodies, little work for the model. */
  readonly isGentle?: boolean;
  /** For a server that wants one. */
  readonly apiKey?: string | undefined;
  /** Until an answer must be complete; 20 by default. */
  readonly timeoutSeconds?: number;
  /** Of the whole run; 300 by default. */
  readonly maxSeconds?: number;
  /** Of the whole run; 6,000 by default. */
  readonly maxRequests?: number;
  /** Told of each result as it comes. */
  readonly onResult?: (result: Result, done: number, total: number) => void;
}

/**
 * Holds a server to the contract, clause by clause. A server that does not answer fails every clause; nothing is thrown
 * for it.
 *
 * @throws WrongUsage for options that fit no server or no clause
 */
export async function runConformance(options: ConformanceOptions): Promise<Report> {
  const { profile = "full", isGentle = false, only = [], skip = [], timeoutSeconds = 20 } = options;
  if (!PROFILES.includes(profile))
    throw new WrongUsage(`the profile is ${PROFILES.join(", ")}, not ${JSON.stringify(profile)}`);
  const { seed = randomSeed(), shard, baseline } = options;
  if (!Number.isInteger(seed) || seed < 0 || seed > MOST_SEED)
    throw new WrongUsage(`a seed is a whole number from 0 to ${MOST_SEED}, not ${seed}`);
  return await run({
    seed,
    shard,
    baseline:
      baseline === undefined ? new Map() : readBaseline(baseline, new Set(ALL_CHECKS.map(({ id }) => id))),
    target: readTarget(options.baseUrl, options.apiKey, timeoutSeconds * 1000),
    checks: selectChecks(ALL_CHECKS, { profile, only, skip, isGentle, shard }),
    profile,
    isGentle,
    bounds: {
      maxSeconds: options.maxSeconds ?? 300,
      maxRequests: options.maxRequests ?? 6000,
      checksAtATime: 8,
    },
    onResult: options.onResult ?? (() => {}),
  });
}
