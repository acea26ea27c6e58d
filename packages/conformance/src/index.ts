import { ALL_CHECKS } from "./clauses.ts";
import { readTarget, WrongUsage } from "./client/target.ts";
import type { Report, Result } from "./run/report.ts";
import { readBaseline } from "./run/report.ts";
import { run } from "./run/runner.ts";
import { selectChecks } from "./run/select.ts";
import { PROFILES, type Profile } from "./trial/clause.ts";
import { MOST_SEED, randomSeed } from "./trial/salts.ts";

export { WrongUsage } from "./client/target.ts";
export type { Outcome, Report, Result } from "./run/report.ts";
export { type Clause, PROFILES, type Profile } from "./trial/clause.ts";

export interface ConformanceOptions {
  /** Base URL of the server, such as `http://127.0.0.1:8700`, with a path prefix if it has one. */
  readonly baseUrl: string;
  /**
   * `seed`: rules that every implementation must satisfy. `full` (default): these and the further rules of this
   * contract. The name of a dialect: its rules; `baseUrl` is then the dialect's.
   */
  readonly profile?: Profile;
  /** Clauses to check: ids, prefixes (`rank`) or patterns (`*.order`). */
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** `2/4` checks the second of four parts of the clauses. */
  readonly shard?: string | undefined;
  /** Makes a run repeatable: 0 to 2 ** 32 - 1. Default: random. The report contains it. */
  readonly seed?: number | undefined;
  /** The text of a baseline file: accepted broken clauses, each with its reason. */
  readonly baseline?: string | undefined;
  /** Leaves out floods, large bodies and much work for the model. */
  readonly isGentle?: boolean;
  /** The key, if the server requires one. */
  readonly apiKey?: string | undefined;
  /** Timeout of each answer in seconds. Default: 20. */
  readonly timeoutSeconds?: number;
  /** Time limit of the whole run in seconds. Default: 300. */
  readonly maxSeconds?: number;
  /** The most requests of the whole run. Default: 6,000. */
  readonly maxRequests?: number;
  /** Called with each result as soon as it is known. */
  readonly onResult?: (result: Result, done: number, total: number) => void;
}

/**
 * Checks a server against the contract, clause by clause. If the server does not answer, every clause fails; nothing is
 * thrown.
 *
 * @throws WrongUsage for invalid options, or options that select no clause
 */
export async function runConformance(options: ConformanceOptions): Promise<Report> {
  const { profile = "full", isGentle = false, only = [], skip = [], timeoutSeconds = 20 } = options;
  if (!PROFILES.includes(profile))
    throw new WrongUsage(
      `the profile: expected one of ${PROFILES.join(", ")}, got ${JSON.stringify(profile)}`,
    );
  const { seed = randomSeed(), shard, baseline } = options;
  if (!Number.isInteger(seed) || seed < 0 || seed > MOST_SEED)
    throw new WrongUsage(`the seed: expected a whole number from 0 to ${MOST_SEED}, got ${seed}`);
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
