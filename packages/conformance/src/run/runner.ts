import { setMaxListeners } from "node:events";
import { hideKey } from "../client/api-key.ts";
import { curlLine } from "../client/curl.ts";
import { NoAnswer, type SentRequest } from "../client/exchange.ts";
import { HttpClient } from "../client/http.ts";
import type { Target } from "../client/target.ts";
import { MCP_REQUEST } from "../dialects/mcp/messages.ts";
import { RERANK_REQUEST } from "../dialects/rerank.ts";
import { TYPESAFE_REQUEST } from "../dialects/typesafe.ts";
import { type Check, clauseOf } from "../trial/check.ts";
import type { Profile } from "../trial/clause.ts";
import { type Facts, type FirstRequest, gatherDialectFacts, gatherFacts } from "../trial/facts.ts";
import { withSalts } from "../trial/salts.ts";
import { Broken, CannotTell, type Session, Trial } from "../trial/trial.ts";
import type { Baseline } from "./report.ts";
import { countOutcomes, type Report, type Result, skipsIn } from "./report.ts";
import { UNOBSERVED } from "./unobserved.ts";

interface Bounds {
  /** Time limit of the whole run. */
  readonly maxSeconds: number;
  readonly maxRequests: number;
  /** The most concurrent checks, among those that need not run alone. */
  readonly checksAtATime: number;
}

interface RunOptions {
  readonly target: Target;
  readonly checks: readonly Check[];
  readonly profile: Profile;
  readonly isGentle: boolean;
  readonly seed: number;
  readonly shard: string | undefined;
  readonly baseline: Baseline;
  readonly bounds: Bounds;
  /** Called with each result as soon as it is known. */
  readonly onResult: (result: Result, done: number, total: number) => void;
}

/** The first request for each dialect. */
const FIRST_REQUESTS: Partial<Record<Profile, FirstRequest>> = {
  typesafe: TYPESAFE_REQUEST,
  rerank: RERANK_REQUEST,
  mcp: MCP_REQUEST,
};

/** Runs the checks: first those with turn `any`, then `alone`, then `last`. */
export async function run(options: RunOptions): Promise<Report> {
  const client = new HttpClient(options.target);
  try {
    return await new Run(options, client).toEnd();
  } finally {
    client.close();
  }
}

class Run {
  readonly #options: RunOptions;
  readonly #client: HttpClient;
  readonly #startedAt = new Date();
  readonly #deadline: AbortSignal;
  readonly #results = new Map<Check, Result>();

  constructor(options: RunOptions, client: HttpClient) {
    this.#options = options;
    this.#client = client;
    this.#deadline = AbortSignal.timeout(Math.ceil(options.bounds.maxSeconds * 1000));
    setMaxListeners(0, this.#deadline); // every pending request listens to this signal
  }

  async toEnd(): Promise<Report> {
    const { target, checks, profile, bounds } = this.#options;
    let facts: Facts;
    try {
      const first = FIRST_REQUESTS[profile];
      facts =
        first === undefined
          ? await gatherFacts(target, this.#client, this.#deadline)
          : await gatherDialectFacts(first, target, this.#client, this.#deadline);
    } catch (error) {
      if (!(error instanceof NoAnswer) && !this.#deadline.aborted) throw error;
      return this.#unreachable(error);
    }
    const { modelId, requests, foreign, noInference } = facts;
    if (foreign !== undefined) {
      for (const check of checks) this.#keep(check, "skipped", foreign);
      return this.#report({ requests, obstacle: foreign, isCutShort: true });
    }
    const session: Session = {
      target,
      client: this.#client,
      facts,
      profile,
      maxRequests: bounds.maxRequests,
      seen: [],
      shared: new Map(),
      sentRequests: 0,
    };
    for (const turn of ["any", "alone", "last"] as const) {
      const waiting = checks.filter((check) => check.turn === turn);
      const work = async () => {
        for (let check = waiting.shift(); check !== undefined; check = waiting.shift())
          await this.#try(check, session);
      };
      await Promise.all(Array.from({ length: turn === "alone" ? 1 : bounds.checksAtATime }, work));
    }
    const limit = this.#deadline.aborted
      ? `its time limit of ${bounds.maxSeconds} s`
      : session.sentRequests > bounds.maxRequests && `its limit of ${bounds.maxRequests} requests`;
    const early = limit ? `the run reached ${limit} before its last check` : undefined;
    return this.#report({
      modelId,
      requests: requests + session.sentRequests,
      obstacle: noInference ?? early,
      isCutShort: early !== undefined,
    });
  }

  async #try(check: Check, session: Session): Promise<void> {
    const { noInference, deadInference } = session.facts;
    if (check.needsInference && noInference !== undefined) return this.#keep(check, "skipped", noInference);
    if (check.needsInference && deadInference !== undefined)
      return this.#keep(check, "failed", deadInference);
    const startedAt = performance.now();
    const trial = new Trial(session, this.#deadline);
    const keep = (outcome: Result["outcome"], came = "", request?: SentRequest) =>
      this.#keep(check, outcome, came, request, performance.now() - startedAt);
    try {
      const name = `${this.#options.seed}/${check.id}`;
      await Promise.race([withSalts(name, () => check.run(trial)), aborted(this.#deadline)]);
      keep("passed");
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (this.#deadline.aborted)
        keep("skipped", `the run reached its time limit of ${this.#options.bounds.maxSeconds} s`);
      else if (error instanceof CannotTell) keep("skipped", message);
      else if (error instanceof Broken || error instanceof NoAnswer) keep("failed", message, error.request);
      else keep("failed", `the check could not interpret the answer: ${message}`);
    } finally {
      trial.close();
    }
  }

  /** The report for a server that does not answer: every clause fails. */
  #unreachable(error: unknown): Report {
    const { target, checks, bounds } = this.#options;
    const [message, request] =
      error instanceof NoAnswer ? [error.message, error.request] : [`no answer in ${bounds.maxSeconds} s`];
    for (const check of checks) this.#keep(check, "failed", message, request);
    return this.#report({ requests: 1, obstacle: `${message}, at ${target.name}` });
  }

  #keep(check: Check, found: Result["outcome"], came: string, request?: SentRequest, elapsedMs = 0): void {
    const { baseline, target, onResult, checks } = this.#options;
    const reason = found === "failed" ? baseline.get(check.id) : undefined;
    const result: Result = {
      ...clauseOf(check),
      outcome: reason === undefined ? found : "accepted",
      ...(reason === undefined ? {} : { reason }),
      came: hideKey(came, target.apiKey),
      curl: request && curlLine(request, target.apiKey),
      elapsedMs,
    };
    this.#results.set(check, result);
    onResult(result, this.#results.size, checks.length);
  }

  #report({ modelId, requests, obstacle, isCutShort = false }: Ending): Report {
    const { target, checks, profile, isGentle, seed, shard, baseline } = this.#options;
    const results = checks.flatMap((check) => this.#results.get(check) ?? []);
    const counts = countOutcomes(results);
    const hasNothing = counts.passed + counts.failed + counts.accepted === 0;
    const reason = obstacle ?? (hasNothing ? "none of the chosen clauses could be checked" : undefined);
    return {
      server: target.name,
      model: modelId,
      profile,
      isGentle,
      seed,
      shard,
      startedAt: this.#startedAt.toISOString(),
      elapsedMs: Date.now() - this.#startedAt.getTime(),
      requests,
      obstacle: reason && hideKey(reason, target.apiKey),
      exitCode: counts.failed > 0 || isCutShort ? 1 : reason === undefined ? 0 : 2,
      counts,
      results,
      fixed: results
        .filter(({ id, outcome }) => outcome === "passed" && baseline.has(id))
        .map(({ id }) => id),
      skips: skipsIn(results),
      unobserved: UNOBSERVED,
    };
  }
}

/** How a run ended. */
interface Ending {
  readonly modelId?: string | undefined;
  readonly requests: number;
  /** What prevented most of the checks; undefined if nothing did. */
  readonly obstacle: string | undefined;
  /** Whether checks are missing, so that the run is no pass. */
  readonly isCutShort?: boolean;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}
