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

/** What a request brings to its admission. */
export interface Applicant {
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** Time on the scheduler's clock, in milliseconds. */
  readonly deadlineAt: number;
  /** Length of all texts, in UTF-16 code units. */
  readonly textLength?: number;
}

/** What the queue does with a ticket. */
export interface TicketEvents {
  submit(ticket: Ticket, plan: RequestPlan): void;
  refuse(ticket: Ticket, reason: unknown): void;
  onDeadline(ticket: Ticket): void;
  onDeparture(ticket: Ticket): void;
}

/**
 * A request between admission and answer, with a place in the queue until it begins to run. Its promise, its deadline's timer
 * and the listener to its caller end together, once.
 */
export class Ticket {
  /** Older requests have smaller numbers. */
  readonly order: number;
  readonly deadlineAt: number;
  readonly textLength: number;
  /**
   * Rejects with ServiceError DEADLINE_EXCEEDED | CANCELLED | OVERLOADED | DRAINING | BACKEND_FAILED, or with the reason given
   * to `refuse`.
   */
  readonly answer: Promise<QueuedScores>;
  /** Set once the request is tokenized. */
  queued?: { readonly work: RequestWork; readonly since: number };
  /** Time at which its first pair went into a batch. */
  begunAt?: number;
  readonly #events: TicketEvents;
  readonly #rejected = new AbortController();
  readonly #release: () => void;
  #isSettled = false;
  #resolve: (scores: QueuedScores) => void = () => {};
  #reject: (reason: unknown) => void = () => {};

  constructor(
    order: number,
    { signal, deadlineAt, textLength = 0 }: Applicant,
    clock: Clock,
    events: TicketEvents,
  ) {
    this.order = order;
    this.deadlineAt = deadlineAt;
    this.textLength = textLength;
    this.#events = events;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const onDeparture = () => events.onDeparture(this);
    const cancelTimer = clock.after(Math.max(0, deadlineAt - clock.now()), () => events.onDeadline(this));
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

  /** Submits the tokens for scoring. No effect if the answer is settled. */
  submit(plan: RequestPlan): void {
    if (!this.#isSettled && this.queued === undefined) this.#events.submit(this, plan);
  }

  /** Rejects the answer with the reason and frees the place. No effect if the answer is settled. */
  refuse(reason: unknown): void {
    this.#events.refuse(this, reason);
  }

  resolve(scores: QueuedScores): void {
    this.#settle();
    this.#resolve(scores);
  }

  reject(reason: unknown): void {
    this.#settle();
    this.#rejected.abort(); // not after an answer: nothing is left to stop, and the error would cost its stack
    this.#reject(reason);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#release();
  }
}
