import { ServiceError } from "../../errors.ts";
import type { RequestWork } from "../batches/request-work.ts";
import type { Clock } from "../clock.ts";

/** How a request ended. `refused` (token limits) is in no public counter, like all invalid requests. */
export type Outcome = "completed" | "rejected" | "timedOut" | "cancelled" | "failed" | "refused";

/** How a request may end before it reaches the queue: it was refused, or its deadline passed. */
export type EarlyOutcome = Extract<Outcome, "rejected" | "timedOut">;

/** Requests that wait and run now, and counters since the start. A batch counts in `batches` when it is sent. */
export interface QueueCounters extends Readonly<Record<Exclude<Outcome, "refused">, number>> {
  readonly queued: number;
  readonly running: number;
  /** Estimated time for all waiting and running requests; 0 before there are measurements. */
  readonly estimatedWaitMs: number;
  readonly batches: number;
  readonly forwards: number;
  readonly cacheEntries: number;
  readonly cacheHits: number;
}

// Shared instances, because creating an error with a stack trace is slow, and each request asks for the present
// obstacle.
const FULL = new ServiceError("QUEUE_FULL", "The inference queue is full.");
const STARTING = new ServiceError("STARTING", "The model is still loading.");
const LOST = new ServiceError("STARTING", "The model is unavailable. It is being loaded again.");
const DRAINING = new ServiceError("DRAINING", "The service is shutting down.");

/** Errors of requests that the scheduler does not answer with scores. */
export const queueErrors = {
  starting: () => STARTING,
  /** The model was there, and could not be loaded again so far. */
  lost: () => LOST,
  unavailable: (cause: unknown) =>
    new ServiceError("BACKEND_FAILED", "The model could not be loaded.", { cause }),
  draining: () => DRAINING,
  full: () => FULL,
  overloaded: (retryMs: number) =>
    new ServiceError("OVERLOADED", "The service is too busy to answer this request before its deadline.", {
      retryAfterSeconds: Math.max(1, Math.ceil(retryMs / 1000)),
    }),
  tooLate: () => new ServiceError("DEADLINE_EXCEEDED", "The request exceeded the server deadline."),
  cancelled: () => new ServiceError("CANCELLED", "The caller has left."),
  failed: (cause: unknown) => new ServiceError("BACKEND_FAILED", "The inference backend failed.", { cause }),
  badScores: () => new ServiceError("BACKEND_FAILED", "The backend returned missing or non-finite scores."),
} as const;

/** Whether a request was refused for what it asks, or for the limits of its key. */
export function isInvalid(reason: unknown): boolean {
  return (
    reason instanceof ServiceError && (reason.kind === "INVALID_REQUEST" || reason.kind === "RATE_LIMITED")
  );
}

/** A scored request. Durations are in milliseconds. */
export interface QueuedScores {
  /** One [candidates] array of raw scores for each question, in request order. */
  readonly scores: readonly Float32Array[];
  /** One [candidates, size] array for each question, if the backend returns vectors. */
  readonly vectors?: readonly Float32Array[] | undefined;
  readonly inputTokens: number;
  readonly cachedPairs: number;
  /** Questions with candidates that are the same tokens to the model. Default: 0. */
  readonly indistinct?: number;
  readonly timing: { readonly queue: number; readonly inference: number };
}

/** What a request brings to its admission. */
export interface Applicant {
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** Time on the scheduler's clock, in milliseconds. */
  readonly deadlineAt: number;
}

/**
 * A request between admission and answer, with a place in the queue until it begins to run. Its promise, its deadline's timer
 * and the listener to its caller end together, once.
 */
export class Ticket {
  /** Older requests have smaller numbers. */
  readonly order: number;
  readonly deadlineAt: number;
  /**
   * Rejects with ServiceError DEADLINE_EXCEEDED | CANCELLED | OVERLOADED | DRAINING | BACKEND_FAILED, or with the reason given
   * to `Scheduler.refuse`.
   */
  readonly answer: Promise<QueuedScores>;
  /** Set once the request is tokenized. */
  queued?: { readonly work: RequestWork; readonly since: number };
  /** Time at which its first pair went into a batch. */
  begunAt?: number;
  readonly #rejected = new AbortController();
  readonly #release: () => void;
  #resolve: (scores: QueuedScores) => void = () => {};
  #reject: (reason: unknown) => void = () => {};

  /** @param end called when the deadline has passed, or the caller has left */
  constructor(
    order: number,
    { signal, deadlineAt }: Applicant,
    clock: Clock,
    end: (outcome: "timedOut" | "cancelled") => void,
  ) {
    this.order = order;
    this.deadlineAt = deadlineAt;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const onDeparture = () => end("cancelled");
    const cancelTimer = clock.after(Math.max(0, deadlineAt - clock.now()), () => end("timedOut"));
    signal.addEventListener("abort", onDeparture);
    this.#release = () => {
      cancelTimer();
      signal.removeEventListener("abort", onDeparture);
    };
  }

  /** Aborted when the answer is rejected, so that work on this request can stop. */
  get signal(): AbortSignal {
    return this.#rejected.signal;
  }

  resolve(scores: QueuedScores): void {
    this.#release();
    this.#resolve(scores);
  }

  reject(reason: unknown): void {
    this.#release();
    this.#rejected.abort(); // not after an answer: nothing is left to stop, and the error would cost its stack
    this.#reject(reason);
  }
}
