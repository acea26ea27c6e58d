import type { BackendCounters } from "../../inference/ports.ts";
import type { RunnerCounters } from "./messages.ts";

const NOTHING: RunnerCounters = { stateHits: 0, stateMisses: 0, residentBytes: 0 };

/** Sums what one inference process after the other has counted. */
export class ProcessCounters {
  /** Processes that were started in place of one that had ended. */
  restarts = 0;
  /** Of the processes that have ended. */
  #past = NOTHING;
  #now = NOTHING;

  /** What the process says of itself. */
  note({ stateHits, stateMisses, residentBytes }: RunnerCounters): void {
    this.#now = { stateHits, stateMisses, residentBytes };
  }

  /** The process has ended. */
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
