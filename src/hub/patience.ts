import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceError } from "../errors.ts";
import { failed, Interruption } from "./failures.ts";

/** How long to go on trying. */
export interface Patience {
  /** Failures one after the other, without a new byte between them. */
  readonly attempts: number;
  /** Waits; rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Told before each wait. */
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
}

/** 1 + 2 + 4 + 8 + 16 s: half a minute, in which a router restarts. */
export const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 1_000;
/** What a server asks for beyond it is not waited for: a person would rather know. */
const LONGEST_PAUSE_MS = 5 * 60_000;

export async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}

/** Counts failures of one thing, and waits between them. */
export class Retries {
  readonly #patience: Patience;
  #failures = 0;

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  /** Something came: the count begins anew. */
  progressed(): void {
    this.#failures = 0;
  }

  /**
   * Waits before the next attempt.
   *
   * @param what is to be had, for the message
   * @throws ServiceError PULL_FAILED when it has been tried often enough
   */
  async pause(what: string, error: Interruption): Promise<void> {
    const { attempts, wait, note, signal } = this.#patience;
    this.#failures += 1;
    const asked = error.retryAfterMs;
    if (asked !== undefined && asked > LONGEST_PAUSE_MS) {
      const minutes = Math.ceil(asked / 60_000);
      throw gaveUp(what, error, ` Try again in ${minutes} minutes, as it asks.`);
    }
    if (this.#failures >= attempts) {
      throw gaveUp(
        what,
        error,
        ` Tried ${attempts} times; what was fetched is kept, a second pull goes on from there.`,
      );
    }
    const ms = asked ?? FIRST_PAUSE_MS * 2 ** (this.#failures - 1);
    note(`${what}: ${error.message}; trying again in ${Math.ceil(ms / 1000)} s`);
    await wait(ms, signal);
  }

  /** Does it until it works. */
  async until<Result>(what: string, attempt: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof Interruption)) throw error;
        await this.pause(what, error);
      }
    }
  }
}

function gaveUp(what: string, error: Interruption, advice: string): ServiceError {
  return failed(`${what} could not be fetched: ${error.message}.${advice}`, error);
}
