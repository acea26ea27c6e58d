/** Why a request ended before it reached the queue: it was refused, or its deadline passed. */
export type TurnedAway = "REFUSED" | "DEADLINE_EXCEEDED";

/** Requests that wait and run now, and counters since the start. A batch counts in `batches` when it is sent. */
export interface QueueCounters {
  readonly queued: number;
  readonly running: number;
  /** Estimated time for all waiting and running requests; 0 before there are measurements. */
  readonly estimatedWaitMs: number;
  readonly completed: number;
  readonly rejected: number;
  readonly timedOut: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly batches: number;
  readonly forwards: number;
  readonly cacheEntries: number;
  readonly cacheHits: number;
}

/** How a request ended. `refused` (token limits) is in no public counter, like all invalid requests. */
export type Outcome = "completed" | "rejected" | "timedOut" | "cancelled" | "failed" | "refused";

/** Counters since the start. */
export class Tally {
  readonly ended: Record<Outcome, number> = {
    completed: 0,
    rejected: 0,
    timedOut: 0,
    cancelled: 0,
    failed: 0,
    refused: 0,
  };
  batches = 0;
  forwards = 0;

  countTurnedAway(reason: TurnedAway): void {
    if (reason === "REFUSED") this.ended.rejected += 1;
    else this.ended.timedOut += 1;
  }
}
