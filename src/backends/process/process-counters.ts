import type { BackendCounters } from "../../inference/backend.ts";
import type { RunnerCounters } from "./messages.ts";

const NOTHING: RunnerCounters = { stateHits: 0, stateMisses: 0, residentBytes: 0 };

/** Sums the counters of successive inference processes. */
export class ProcessCounters {
  /** Number of processes started to replace one that had ended. */
  restarts = 0;
  /** Sum of the processes that have ended. */
  #past = NOTHING;
  #now = NOTHING;

  /** Records the current process's counters. */
  note({ stateHits, stateMisses, residentBytes }: RunnerCounters): void {
    this.#now = { stateHits, stateMisses, residentBytes };
  }

  /** Call when the process has ended. */
  end(): void {
    const { stateHits, stateMisses } = this.all();
    this.#past = { stateHits, stateMisses, residentBytes: 0 };
    this.#now = NOTHING;
  }

  all(): BackendCounters {
    return {
      restarts: this.restarts,
      stateHits: this.#past.stateHits + this.#now.stateHits,
      stateMisses: this.#past.stateMisses + this.#now.stateMisses,
      residentBytes: this.#now.residentBytes,
    };
  }
}
