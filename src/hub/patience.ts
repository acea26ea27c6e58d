import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceError } from "../errors.ts";
import { failed, Interruption } from "./failures.ts";

/** Retry settings. */
export interface Patience {
  /** Maximum consecutive failures without a new byte. */
  readonly attempts: number;
  /** Waits; rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called before each wait. */
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
}

/** 1 + 2 + 4 + 8 + 16 s: half a minute, in which a router restarts. */
export const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 1_000;
/** Longer delays that a server asks for end the pull with a message instead. */
const LONGEST_PAUSE_MS = 5 * 60_000;

export async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}

/** Counts consecutive failures and waits between attempts. */
export class Retries {
  readonly #patience: Patience;
  #failures = 0;

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  /** Progress was made: resets the count. */
  progressed(): void {
    this.#failures = 0;
  }

  /**
   * Waits before the next attempt.
   *
   * @param what name of the file, for messages
   * @throws ServiceError PULL_FAILED after the last attempt
   */
  async pause(what: string, error: Interruption): Promise<void> {
    const { attempts, wait, note, signal } = this.#patience;
    this.#failures += 1;
    const asked = error.retryAfterMs;
    if (asked !== undefined && asked > LONGEST_PAUSE_MS) {
      const minutes = Math.ceil(asked / 60_000);
      throw gaveUp(what, error, ` It asks to try again in ${minutes} minutes.`);
    }
    if (this.#failures >= attempts) {
      throw gaveUp(
        what,
        error,
        ` Tried ${attempts} times. Downloaded data is kept, and the next pull resumes.`,
      );
    }
    const ms = asked ?? FIRST_PAUSE_MS * 2 ** (this.#failures - 1);
    note(`${what}: ${error.message}; retrying in ${Math.ceil(ms / 1000)} s`);
    await wait(ms, signal);
  }

  /** Retries an action until it succeeds. */
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
