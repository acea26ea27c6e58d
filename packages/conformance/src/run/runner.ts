import { setMaxListeners } from "node:events";
import { hideKey } from "../client/api-key.ts";
import { curlLine } from "../client/curl.ts";
import { NoAnswer } from "../client/exchange.ts";
import { HttpClient } from "../client/http.ts";
import type { Target } from "../client/target.ts";
import { type FirstRequest, gatherDialectFacts } from "../dialects/facts.ts";
import { MCP_REQUEST } from "../dialects/mcp/messages.ts";
import { RERANK_REQUEST } from "../dialects/rerank-requests.ts";
import { TYPESAFE_REQUEST } from "../dialects/typesafe-requests.ts";
import { type Check, clauseOf } from "../trial/check.ts";
import type { Profile } from "../trial/clause.ts";
import { type Facts, gatherFacts } from "../trial/facts.ts";
import { withSalts } from "../trial/salts.ts";
import { Broken, CannotTell, type Session, Trial } from "../trial/trial.ts";
import type { Baseline } from "./report.ts";
import { countOutcomes, type Report, type Result, skipsIn } from "./report.ts";
import { UNOBSERVED } from "./unobserved.ts";

export interface Bounds {
  /** Time limit of the whole run. */
  readonly maxSeconds: number;
  readonly maxRequests: number;
  /** The most concurrent checks, among those that need not run alone. */
  readonly checksAtATime: number;
}

export interface RunOptions {
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

/**
 * After so many consecutive checks without an answer, the server is probed once and considered gone if the probe fails.
 * Chosen.
 */
const GONE_AFTER = 4;
/** Timeout of the probe. Even a slow server answers it in milliseconds. Chosen. */
const LOOK_MS = 5_000;

/** Runs the checks: first those with turn `any`, then `alone`, then `last`. */
export async function run(options: RunOptions): Promise<Report> {
  const startedAt = new Date();
  const client = new HttpClient(options.target);
  try {
    return await new Run(options, client, startedAt).toEnd();
  } finally {
    client.close();
  }
}

class Run {
  readonly #options: RunOptions;
  readonly #client: HttpClient;
  readonly #startedAt: Date;
  readonly #deadline: AbortSignal;
  readonly #results = new Map<Check, Result>();
  #silent = 0;
  /** The probe's result: set while it runs, and kept once the server is gone. */
  #look: Promise<boolean> | undefined;
  #obstacle: string | undefined;
  #isForeign = false;

  constructor(options: RunOptions, client: HttpClient, startedAt: Date) {
    this.#options = options;
    this.#client = client;
    this.#startedAt = startedAt;
    this.#deadline = AbortSignal.timeout(options.bounds.maxSeconds * 1000);
    setMaxListeners(0, this.#deadline); // every pending request listens to this signal
  }

  async toEnd(): Promise<Report> {
    let facts: Facts;
    try {
      facts = await this.#gatherFacts();
    } catch (error) {
      if (!(error instanceof NoAnswer) && !this.#deadline.aborted) throw error;
      return this.#unreachable(error);
    }
    if (facts.foreign !== undefined) return this.#foreign(facts.foreign, facts.requests);
    const { target, checks, profile, bounds } = this.#options;
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
          this.#keep(check, await this.#try(check, session));
      };
      await Promise.all(Array.from({ length: turn === "alone" ? 1 : bounds.checksAtATime }, work));
    }
    this.#obstacle = facts.noInference ?? this.#cutShort(session.sentRequests);
    return this.#report(facts.modelId, session.sentRequests, facts.requests);
  }

  async #gatherFacts(): Promise<Facts> {
    const { target, profile } = this.#options;
    const first = FIRST_REQUESTS[profile];
    if (first === undefined) return await gatherFacts(target, this.#client, this.#deadline);
    return await gatherDialectFacts(first, target, this.#client, this.#deadline);
  }

  async #try(check: Check, session: Session): Promise<Result> {
    const startedAt = performance.now();
    const result = (outcome: Result["outcome"], came = "", curl?: string): Result => {
      return { ...clauseOf(check), outcome, came, curl, elapsedMs: performance.now() - startedAt };
    };
    const { noInference, deadInference } = session.facts;
    if (check.needsInference && noInference !== undefined) return result("skipped", noInference);
    if (check.needsInference && deadInference !== undefined) return result("failed", deadInference);
    if (await this.#isGone()) return result("failed", "the server stopped answering before this check");
    const trial = new Trial(session, this.#deadline);
    try {
      const name = `${this.#options.seed}/${check.id}`;
      await Promise.race([withSalts(name, () => check.run(trial)), aborted(this.#deadline)]);
      this.#silent = 0;
      return result("passed");
    } catch (error) {
      this.#silent = error instanceof NoAnswer ? this.#silent + 1 : 0;
      if (this.#deadline.aborted)
        return result("skipped", `the run reached its time limit of ${this.#options.bounds.maxSeconds} s`);
      if (error instanceof CannotTell) return result("skipped", error.message);
      const isAnswer = error instanceof Broken || error instanceof NoAnswer;
      const request = isAnswer ? error.request : undefined;
      const curl = request && curlLine(request, session.target.apiKey);
      const message = error instanceof Error ? error.message : String(error);
      return result(
        "failed",
        isAnswer ? message : `the check could not interpret the answer: ${message}`,
        curl,
      );
    } finally {
      trial.close();
    }
  }

  /** Probes whether the server is gone. A slow server is not: each of its late answers fails its own check. */
  async #isGone(): Promise<boolean> {
    if (this.#silent < GONE_AFTER) return false;
    this.#look ??= this.#answers().then((answers) => {
      if (answers) [this.#silent, this.#look] = [0, undefined];
      return answers;
    });
    return !(await this.#look) && !this.#deadline.aborted; // otherwise the run's remaining time was too short to tell
  }

  async #answers(): Promise<boolean> {
    const timeoutMs = Math.min(LOOK_MS, this.#options.target.timeoutMs);
    const call = { method: "GET", path: "/health", headers: {}, signal: this.#deadline, timeoutMs };
    return await this.#client.call(call).then(
      () => true,
      () => false,
    );
  }

  /** Why the run ended early; undefined if it did not. */
  #cutShort(sentRequests: number): string | undefined {
    const { maxSeconds, maxRequests } = this.#options.bounds;
    if (this.#deadline.aborted)
      return `the run reached its time limit of ${maxSeconds} s before its last check`;
    if (sentRequests > maxRequests)
      return `the run reached its limit of ${maxRequests} requests before its last check`;
    return undefined;
  }

  /** The report for a server that does not answer: every clause fails. */
  #unreachable(error: unknown): Report {
    const message =
      error instanceof NoAnswer ? error.message : `no answer in ${this.#options.bounds.maxSeconds} s`;
    const request = error instanceof NoAnswer ? error.request : undefined;
    const { name, apiKey } = this.#options.target;
    this.#obstacle = `${hideKey(message, apiKey)}, at ${name}`;
    for (const check of this.#options.checks) {
      const curl = request && curlLine(request, apiKey);
      this.#keep(check, { ...clauseOf(check), outcome: "failed", came: message, curl, elapsedMs: 0 });
    }
    return this.#report(undefined, 1);
  }

  /** The report for another kind of server. No further requests are sent. */
  #foreign(reason: string, requests: number): Report {
    this.#isForeign = true;
    this.#obstacle = hideKey(reason, this.#options.target.apiKey);
    for (const check of this.#options.checks)
      this.#keep(check, {
        ...clauseOf(check),
        outcome: "skipped",
        came: reason,
        curl: undefined,
        elapsedMs: 0,
      });
    return this.#report(undefined, 0, requests);
  }

  #keep(check: Check, found: Result): void {
    const { baseline, target } = this.#options;
    const reason = found.outcome === "failed" ? baseline.get(check.id) : undefined;
    const result: Result = {
      ...found,
      ...(reason === undefined ? {} : { outcome: "accepted", reason }),
      came: hideKey(found.came, target.apiKey),
    };
    this.#results.set(check, result);
    this.#options.onResult(result, this.#results.size, this.#options.checks.length);
  }

  #report(model: string | undefined, requests: number, firstRequests = 0): Report {
    const { target, checks, profile, isGentle, seed, shard, baseline } = this.#options;
    const results = checks.flatMap((check) => this.#results.get(check) ?? []);
    const counts = countOutcomes(results);
    const hasNothing = counts.passed + counts.failed + counts.accepted === 0;
    const isBad = counts.failed > 0 || this.#isForeign || this.#cutShort(requests) !== undefined;
    const obstacle =
      this.#obstacle ?? (hasNothing ? "none of the chosen clauses could be checked" : undefined);
    return {
      server: target.name,
      model,
      profile,
      isGentle,
      seed,
      shard,
      startedAt: this.#startedAt.toISOString(),
      elapsedMs: Date.now() - this.#startedAt.getTime(),
      requests: requests + firstRequests,
      obstacle,
      exitCode: isBad ? 1 : obstacle === undefined ? 0 : 2,
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

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}
