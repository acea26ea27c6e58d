import { ServiceError } from "../../errors.ts";

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

// Shared instances, because creating an error with a stack trace is slow, and each request asks for the present obstacle.
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
