import type { RequestWork } from "../batches/request-work.ts";
import type { Clock } from "../clock.ts";
import type { RequestPlan } from "../nodes.ts";

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

export interface Admission {
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** Time on the scheduler's clock, in milliseconds. */
  readonly deadlineAt: number;
  /** Length of all texts, in UTF-16 code units. */
  readonly textLength?: number;
}

/** A request's place in the queue, from admission to its answer. */
export interface Place {
  /**
   * Rejects with ServiceError DEADLINE_EXCEEDED | CANCELLED | OVERLOADED | DRAINING | BACKEND_FAILED, or with the reason given
   * to `refuse`.
   */
  readonly answer: Promise<QueuedScores>;
  /** Aborted when the answer is rejected, so that work on this request can stop. */
  readonly signal: AbortSignal;
  /** Submits the tokens for scoring. No effect if the answer is settled. */
  submit(plan: RequestPlan): void;
  /** Rejects the answer with the reason and frees the place. No effect if the answer is settled. */
  refuse(reason: unknown): void;
}

export interface Settling {
  onDeadline(): void;
  onDeparture(): void;
}

/** The promise, the deadline timer and the abort listener of a place. They end together, once. */
export class PlaceLife {
  readonly answer: Promise<QueuedScores>;
  readonly deadlineAt: number;
  readonly #rejected = new AbortController();
  readonly #release: () => void;
  #isSettled = false;
  #resolve: (scores: QueuedScores) => void = () => {};
  #reject: (reason: unknown) => void = () => {};

  constructor(clock: Clock, { signal, deadlineAt }: Admission, settling: Settling) {
    this.deadlineAt = deadlineAt;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const cancelTimer = clock.after(Math.max(0, deadlineAt - clock.now()), settling.onDeadline);
    signal.addEventListener("abort", settling.onDeparture);
    this.#release = () => {
      cancelTimer();
      signal.removeEventListener("abort", settling.onDeparture);
    };
  }

  get signal(): AbortSignal {
    return this.#rejected.signal;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  resolve(scores: QueuedScores): void {
    this.#end();
    this.#resolve(scores);
  }

  reject(reason: unknown): void {
    this.#end();
    this.#rejected.abort(); // not after an answer: nothing is left to stop, and the error would cost its stack
    this.#reject(reason);
  }

  #end(): void {
    this.#isSettled = true;
    this.#release();
  }
}

/** A request between admission and answer. */
export interface Ticket {
  readonly order: number;
  readonly life: PlaceLife;
  readonly textLength: number;
  /** Set once the request is tokenized. */
  queued?: { readonly work: RequestWork; readonly since: number };
  /** Time at which its first pair went into a batch. */
  begunAt?: number;
}
