import { createRequire } from "node:module";
import type { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { ServiceError } from "../errors.ts";
import type { KeyEntry } from "./key-file.ts";

/** Loads the library for the first key with a bound: it brings its adapters for a dozen databases. */
const require = createRequire(import.meta.url);
const MINUTE = 60; // seconds
const ALL = "all"; // each limiter counts for one key

/**
 * What a key may ask for in a minute. The minute begins with the first request after the one before. A request's tokens are
 * known once it is answered: the requests that come when they are used up are refused.
 */
export class KeyRates {
  readonly #requests: RateLimiterMemory | undefined;
  readonly #tokens: RateLimiterMemory | undefined;

  constructor({
    requestsPerMinute,
    tokensPerMinute,
  }: Pick<KeyEntry, "requestsPerMinute" | "tokensPerMinute">) {
    this.#requests = limiterOf(requestsPerMinute);
    this.#tokens = limiterOf(tokensPerMinute);
  }

  /** Counts a request. @throws ServiceError RATE_LIMITED with the seconds until the next minute begins */
  async takeRequest(): Promise<void> {
    const spent = await this.#tokens?.get(ALL);
    if (spent && spent.remainingPoints <= 0) throw tooMany("tokens", spent);
    try {
      await this.#requests?.consume(ALL);
    } catch (reason) {
      throw isOverBound(reason) ? tooMany("requests", reason) : reason;
    }
  }

  /** Counts the tokens of an answer. */
  async chargeTokens(tokens: number): Promise<void> {
    await this.#tokens?.penalty(ALL, tokens);
  }
}

function limiterOf(points: number | undefined): RateLimiterMemory | undefined {
  if (points === undefined) return undefined;
  const library: typeof import("rate-limiter-flexible") = require("rate-limiter-flexible");
  return new library.RateLimiterMemory({ points, duration: MINUTE });
}

/** The library rejects with a result and not with an error. */
function isOverBound(reason: unknown): reason is RateLimiterRes {
  return typeof reason === "object" && reason !== null && "msBeforeNext" in reason;
}

function tooMany(what: string, { msBeforeNext }: RateLimiterRes): ServiceError {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return new ServiceError("RATE_LIMITED", `This key has used up its ${what} of this minute.`, {
    retryAfterSeconds,
  });
}
