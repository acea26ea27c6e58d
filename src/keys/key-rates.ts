import { ServiceError } from "../errors.ts";
import type { KeyEntry } from "./key-file.ts";

const MINUTE_MS = 60_000;

/** Milliseconds of a monotonic clock. */
type Now = () => number;

/** A limit of a key in windows of one minute. The first use after the end of a window opens the next one. */
class MinuteLimit {
  readonly #what: string;
  readonly #limit: number;
  readonly #now: Now;
  #window = { endsAt: Number.NEGATIVE_INFINITY, used: 0 };

  constructor(what: string, limit: number, now: Now) {
    this.#what = what;
    this.#limit = limit;
    this.#now = now;
  }

  /** @throws ServiceError RATE_LIMITED, with the seconds until the window ends, if the limit is used up */
  check(): void {
    const { endsAt, used } = this.#window;
    const leftMs = endsAt - this.#now();
    if (leftMs <= 0 || used < this.#limit) return;
    throw new ServiceError("RATE_LIMITED", `This key has used up its ${this.#what} of this minute.`, {
      retryAfterSeconds: Math.ceil(leftMs / 1000),
    });
  }

  /**
   * Takes an amount unless the limit is used up. The last amount may go beyond the limit, because a request with more
   * tokens than the limit could otherwise never be answered.
   *
   * @returns gives a part back, to the window that it was taken from
   */
  take(amount: number): (part: number) => void {
    this.check();
    const now = this.#now();
    if (now >= this.#window.endsAt) this.#window = { endsAt: now + MINUTE_MS, used: 0 };
    const window = this.#window;
    window.used += amount;
    return (part) => {
      window.used -= part;
    };
  }
}

/** What a key may use in a minute: requests, and tokens of their pairs. */
export class KeyRates {
  readonly #requests: MinuteLimit | undefined;
  readonly #tokens: MinuteLimit | undefined;

  /** @param now clock of the windows, in milliseconds */
  constructor(
    { requestsPerMinute, tokensPerMinute }: Pick<KeyEntry, "requestsPerMinute" | "tokensPerMinute">,
    now: Now = () => performance.now(),
  ) {
    const limitOf = (what: string, limit: number | undefined) =>
      limit === undefined ? undefined : new MinuteLimit(what, limit, now);
    this.#requests = limitOf("requests", requestsPerMinute);
    this.#tokens = limitOf("tokens", tokensPerMinute);
  }

  /** Counts a request. @throws ServiceError RATE_LIMITED if requests or tokens are used up */
  takeRequest(): void {
    this.#tokens?.check();
    this.#requests?.take(1);
  }

  /** Counts tokens. @returns gives a part of them back @throws ServiceError RATE_LIMITED if they were used up before */
  takeTokens(tokens: number): (part: number) => void {
    return this.#tokens?.take(tokens) ?? (() => {});
  }
}

/** What one HTTP request takes from its key. A message of MCP may hold several calls. */
export class KeyAccount {
  readonly #rates: KeyRates;
  #prepaid = 0;

  constructor(rates: KeyRates) {
    this.#rates = rates;
  }

  /** Takes the first call, before its body is read. @throws ServiceError RATE_LIMITED */
  prepay(): void {
    this.#rates.takeRequest();
    this.#prepaid += 1;
  }

  /** Takes a call that has not been paid yet. @throws ServiceError RATE_LIMITED */
  takeRequest(): void {
    if (this.#prepaid === 0) this.#rates.takeRequest();
    else this.#prepaid -= 1;
  }

  /** @see KeyRates.takeTokens */
  takeTokens(tokens: number): (part: number) => void {
    return this.#rates.takeTokens(tokens);
  }
}
