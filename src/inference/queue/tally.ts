import type { TurnedAway } from "../ports.ts";

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
