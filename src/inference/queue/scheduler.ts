import type { ServiceError } from "../../errors.ts";
import type { Backend, BatchScores } from "../backend.ts";
import { type Batch, SecondTries } from "../batches/batch.ts";
import { BatchRule } from "../batches/batch-rule.ts";
import { RequestWork, ScoreCache } from "../batches/request-work.ts";
import type { Clock } from "../clock.ts";
import type { RequestPlan } from "../nodes.ts";
import { SentBatches, Throughput } from "../throughput.ts";
import { AdmissionControl } from "./admission.ts";
import {
  type Applicant,
  type EarlyOutcome,
  isInvalid,
  type Outcome,
  type QueueCounters,
  queueErrors,
  Ticket,
} from "./ticket.ts";

/**
 * Time without progress after a deadline, by which a service is stuck rather than slow: each request ends at its deadline, and a
 * hung inference process is killed five seconds later. Chosen.
 */
const STUCK_MS = 30_000;

export interface EngineSettings {
  readonly queueCapacity: number;
  readonly maxBatchRequests: number;
  readonly maxBatchTokens: number;
  readonly batchWaitMs: number;
  readonly cacheSize: number;
  readonly strict: boolean;
  readonly deadlineMs: number;
}

/** A batch that the backend has computed. */
export interface BatchFacts {
  readonly requests: number;
  readonly pairs: number;
  /** Tokens without repetition: shared tokens count once. Tokens of cached states are included. */
  readonly tokens: number;
  /** Time from sending the batch to receiving its scores. */
  readonly ms: number;
}

/**
 * The queue. It holds all mutable state between a handler and the backend, except the tokenizer's text cache.
 *
 *     admit ──► waiting ── submit ──► ready ── BatchRule ──► Batch ──► backend.score, one ahead
 *                 │  │                  ▲                      │
 *         refuse, │  │ all scores       └── pairs left ────────┤
 *      departure, │  │ cached, or too                          │ all pairs answered,
 *       deadline  ▼  ▼ much work                               ▼ or a batch failed twice
 *               answered ◄─────────────────────────────────────┘
 *
 * A request *waits* from admission until its first pair goes into a batch, then it *runs*. `queueCapacity` limits the
 * waiting ones. If its deadline passes or its caller leaves, it ends at once, even while its batch is computed. Scores that arrive
 * later only fill the score cache.
 *
 * A tokenized request that cannot be answered before its deadline is refused, with the time after which to retry. The same
 * happens to a waiting request if the backend becomes slower. A request that has begun is finished. A request with nothing before
 * it is always tried, so that too long estimates get corrected.
 */
export class Scheduler {
  readonly #backend: Backend;
  readonly #clock: Clock;
  readonly #settings: EngineSettings;
  readonly #cache: ScoreCache;
  readonly #rule: BatchRule;
  readonly #sent: SentBatches;
  readonly #admission: AdmissionControl;
  readonly #secondTries = new SecondTries();
  /** Whether a second try is being computed. It may crash the process, so no other batch is sent meanwhile. */
  #isAlone = false;

  #obstacle: (() => ServiceError) | undefined = queueErrors.starting;
  #isDraining = false;
  #admitted = 0;
  readonly #waiting = new Set<Ticket>();
  readonly #running = new Set<Ticket>();
  /** Of all requests that are tokenized. */
  readonly #ticketOf = new Map<RequestWork, Ticket>();
  #cancelWake: () => void = () => {};
  #onEmpty: (() => void)[] = [];
  readonly #ended: Record<Outcome, number> = {
    completed: 0,
    rejected: 0,
    timedOut: 0,
    cancelled: 0,
    failed: 0,
    refused: 0,
  };
  #batches = 0;
  #forwards = 0;
  /** When a batch was sent to an idle backend, a batch ended, or the model was loaded again. */
  #progressAt: number;
  #onBatch: (batch: BatchFacts) => void = () => {};

  constructor(backend: Backend, clock: Clock, settings: EngineSettings) {
    this.#backend = backend;
    this.#clock = clock;
    this.#settings = settings;
    this.#cache = new ScoreCache(settings.cacheSize);
    const { maxBatchRequests: maxRequests, maxBatchTokens: maxTokens, strict: isStrict } = settings;
    const throughput = new Throughput();
    this.#rule = new BatchRule({ maxRequests, isStrict }, this.#cache);
    this.#sent = new SentBatches(throughput);
    this.#admission = new AdmissionControl({
      rule: this.#rule,
      sent: this.#sent,
      throughput,
      clock,
      maxTokens,
    });
    this.#progressAt = clock.now();
    backend.onReady(() => {
      this.#progressAt = clock.now();
      this.#pump();
    });
  }

  /** Sets the listener for computed batches. */
  onBatch(listener: (batch: BatchFacts) => void): void {
    this.#onBatch = listener;
  }

  /** Whether work has made no progress for so long that this process will not recover. */
  isStuck(): boolean {
    const now = this.#clock.now();
    const isComputing = this.#sent.count > 0 && this.#backend.isReady;
    if (isComputing && now - this.#progressAt > this.#settings.deadlineMs + STUCK_MS) return true;
    return this.#tickets().some(({ deadlineAt }) => now - deadlineAt > STUCK_MS);
  }

  /** Accepts requests from now on: the backend has started. */
  open(): void {
    if (!this.#isDraining) this.#obstacle = undefined;
  }

  /** Rejects every request from now on, because the backend did not start. */
  fail(cause: unknown): void {
    const failed = queueErrors.unavailable(cause);
    if (!this.#isDraining) this.#obstacle = () => failed;
  }

  /**
   * Takes a place in the queue without waiting.
   *
   * @throws ServiceError STARTING | DRAINING | QUEUE_FULL | OVERLOADED, or BACKEND_FAILED if the backend did not start (all of these
   *         count as rejected); CANCELLED if the caller has already left, DEADLINE_EXCEEDED if the deadline has passed
   */
  admit(applicant: Applicant): Ticket {
    this.#checkAdmission(applicant);
    const ticket: Ticket = new Ticket(this.#admitted, applicant, this.#clock, (outcome) => {
      if (outcome === "timedOut") this.#timeOut(ticket);
      else this.#end(ticket, outcome, queueErrors.cancelled());
    });
    this.#admitted += 1;
    this.#waiting.add(ticket);
    return ticket;
  }

  /** Submits a request's tokens for scoring. No effect if it has ended. */
  submit(ticket: Ticket, plan: RequestPlan): void {
    if (!this.#waiting.has(ticket)) return;
    const { order, deadlineAt } = ticket;
    if (this.#timeOutIfLate(ticket, this.#clock.now())) return;
    const work = new RequestWork(order, plan, deadlineAt);
    ticket.queued = { work, since: this.#clock.now() };
    this.#ticketOf.set(work, ticket);
    this.#rule.answerKnown(work);
    if (work.isAnswered) {
      this.#finish(ticket, ticket.queued);
      return;
    }
    const refusal = this.#admission.refusalByTokens(work);
    if (refusal !== undefined) {
      this.#end(ticket, "rejected", refusal);
      return;
    }
    this.#rule.add(work, this.#admission.quantum);
    this.#pump();
  }

  /** Rejects a request's answer with the reason and frees its place. No effect if it has ended. */
  refuse(ticket: Ticket, reason: unknown): void {
    this.#end(ticket, isInvalid(reason) ? "refused" : "failed", reason);
  }

  /** Whether `admit` would reject a request now only because too many wait. */
  isFull(): boolean {
    return this.#unavailable() === undefined && this.#waiting.size >= this.#settings.queueCapacity;
  }

  /** The error of all requests while the model cannot be used or the service ends. */
  #unavailable(): ServiceError | undefined {
    return this.#obstacle?.() ?? (this.#backend.isExpected ? undefined : queueErrors.lost());
  }

  /** Accepts no more requests; resolves when all accepted ones have been answered. */
  drain(): Promise<void> {
    this.#closeAdmission();
    return new Promise((resolve) => {
      this.#onEmpty.push(resolve);
      this.#pump();
      this.#reportEmpty();
    });
  }

  /** Ends at once: every remaining request gets DRAINING. */
  close(): void {
    this.#closeAdmission();
    for (const ticket of this.#tickets()) this.#end(ticket, "failed", queueErrors.draining());
    this.#cancelWake();
  }

  /** Counts a request that ended before `admit`. */
  countEarly(outcome: EarlyOutcome): void {
    this.#ended[outcome] += 1;
  }

  counters(): QueueCounters {
    const { refused: _, ...ended } = this.#ended;
    return {
      ...ended,
      queued: this.#waiting.size,
      estimatedWaitMs: this.#admission.waitMs(),
      running: this.#running.size,
      batches: this.#batches,
      forwards: this.#forwards,
      cacheEntries: this.#cache.size,
      cacheHits: this.#cache.hits,
    };
  }

  #checkAdmission({ signal, deadlineAt }: Applicant): void {
    const turnAway = (outcome: Outcome, reason: ServiceError) => {
      this.#ended[outcome] += 1;
      throw reason;
    };
    if (signal.aborted) turnAway("cancelled", queueErrors.cancelled());
    const obstacle = this.#unavailable() ?? (this.isFull() ? queueErrors.full() : undefined);
    if (obstacle !== undefined) turnAway("rejected", obstacle);
    if (this.#clock.now() >= deadlineAt) turnAway("timedOut", queueErrors.tooLate());
  }

  #closeAdmission(): void {
    this.#isDraining = true;
    this.#obstacle = queueErrors.draining;
  }

  /** Sends the next batch, unless the backend has enough to do, is not ready, nothing waits, or more requests are worth waiting for. */
  #pump(): void {
    this.#cancelWake();
    while (!this.#isAlone) {
      const roomMs = this.#sent.untilRoomMs(this.#clock.now());
      if (roomMs > 0) {
        this.#wakeIn(roomMs);
        return;
      }
      this.#timeOutLate();
      const again = this.#secondTry();
      if (again) {
        void this.#computeAlone(again);
        return;
      }
      if (this.#secondTries.isPending) return; // called again when a batch ends
      for (const [work, refusal] of this.#admission.refusalsNow()) this.#endWork(work, "rejected", refusal);
      if (this.#rule.size === 0) return;
      if (!this.#backend.isReady) return; // called again by `onReady`
      const waitMs = this.#batchWaitMs();
      if (waitMs > 0) {
        this.#wakeIn(waitMs);
        return;
      }
      const batch = this.#rule.form(this.#admission.quantum);
      for (const work of batch.requests) this.#markBegun(work);
      for (const work of batch.answered) this.#finishIfAnswered(work);
      if (batch.pairCount > 0) void this.#compute(batch);
    }
  }

  /** @param ms infinite if `#pump` will be called when a batch ends */
  #wakeIn(ms: number): void {
    if (ms < Number.POSITIVE_INFINITY) this.#cancelWake = this.#clock.after(ms, () => this.#pump());
  }

  /** How much longer the first request after an idle time waits for others to join its batch. */
  #batchWaitMs(): number {
    if (this.#isDraining || this.#rule.isFull(this.#admission.quantum)) return 0;
    const waiting = [...this.#rule.small, ...this.#rule.long].map(([work]) => work);
    if (waiting.some(({ hasBegun }) => hasBegun)) return 0;
    const since = waiting.map((work) => this.#ticketOf.get(work)?.queued?.since ?? 0);
    return Math.min(...since) + this.#settings.batchWaitMs - this.#clock.now();
  }

  #secondTry(): Batch | undefined {
    if (!this.#backend.isReady || this.#sent.count > 0) return undefined;
    return this.#secondTries.next(this.#ticketOf);
  }

  async #computeAlone(batch: Batch): Promise<void> {
    this.#isAlone = true;
    await this.#send(batch);
    this.#isAlone = false;
    this.#pump();
  }

  async #compute(batch: Batch): Promise<void> {
    await this.#send(batch);
    this.#pump();
  }

  async #send(batch: Batch): Promise<void> {
    const sentAt = this.#clock.now();
    if (this.#sent.count === 0) this.#progressAt = sentAt;
    const sent = this.#sent.add(batch.tokenCount, sentAt);
    this.#batches += 1;
    let scored: BatchScores;
    try {
      scored = await this.#backend.score(batch.leaves());
      checkScores(scored, batch.pairCount);
    } catch (cause) {
      this.#sent.end(sent, this.#clock.now(), true);
      this.#progressAt = this.#clock.now();
      this.#fail(batch, cause);
      return;
    }
    const now = this.#clock.now();
    this.#forwards += scored.forwards;
    this.#sent.end(sent, now, false);
    this.#progressAt = now;
    const { pairCount: pairs, tokenCount: tokens } = batch;
    const facts = { requests: batch.requests.size, pairs, tokens, ms: now - sentAt };
    this.#deliver(batch, scored);
    this.#onBatch(facts);
  }

  #deliver(batch: Batch, { scores, vectors }: BatchScores): void {
    const size = (vectors?.length ?? 0) / batch.pairCount;
    for (const [at, recipients] of batch.listRecipients().entries()) {
      const score = scores[at] ?? Number.NaN; // the lengths are equal
      // a copy: a cached vector must not keep those of the whole batch in memory
      const result = vectors ? { score, vector: vectors.slice(at * size, (at + 1) * size) } : score;
      for (const [place, { work, pair }] of recipients.entries()) {
        work.answer(pair, result, place === 0);
        this.#cache.set(pair.leaf.key, result);
      }
    }
    for (const work of batch.requests) this.#finishIfAnswered(work);
  }

  #fail(batch: Batch, cause: unknown): void {
    for (const work of this.#secondTries.add(batch)) this.#endWork(work, "failed", queueErrors.failed(cause));
  }

  #markBegun(work: RequestWork): void {
    const ticket = this.#ticketOf.get(work);
    if (ticket === undefined || ticket.begunAt !== undefined) return;
    ticket.begunAt = this.#clock.now();
    this.#waiting.delete(ticket);
    this.#running.add(ticket);
  }

  #finishIfAnswered(work: RequestWork): void {
    const ticket = this.#ticketOf.get(work);
    if (work.isAnswered && ticket?.queued) this.#finish(ticket, ticket.queued);
  }

  #finish(ticket: Ticket, { work, since }: NonNullable<Ticket["queued"]>): void {
    const now = this.#clock.now();
    if (this.#timeOutIfLate(ticket, now)) return;
    const begunAt = ticket.begunAt ?? now;
    if (!this.#leave(ticket, "completed")) return;
    ticket.resolve({
      scores: work.scores,
      ...(work.vectors && { vectors: work.vectors }),
      inputTokens: work.inputTokens,
      cachedPairs: work.cachedPairs,
      ...(work.indistinct > 0 && { indistinct: work.indistinct }),
      timing: { queue: begunAt - since, inference: now - begunAt },
    });
    this.#reportEmpty();
  }

  /** Ends requests whose deadline has passed, because no batch may start for them. */
  #timeOutLate(): void {
    const now = this.#clock.now();
    for (const tickets of [this.#running, this.#waiting])
      for (const ticket of tickets) this.#timeOutIfLate(ticket, now);
  }

  /** Ends a request whose deadline has passed. Its timer may be late on a busy process. @returns whether it has passed */
  #timeOutIfLate(ticket: Ticket, now: number): boolean {
    const isLate = now >= ticket.deadlineAt;
    if (isLate) this.#timeOut(ticket);
    return isLate;
  }

  #timeOut(ticket: Ticket): void {
    this.#end(ticket, "timedOut", queueErrors.tooLate());
  }

  #endWork(work: RequestWork, outcome: Outcome, reason: unknown): void {
    const ticket = this.#ticketOf.get(work);
    if (ticket !== undefined) this.#end(ticket, outcome, reason);
  }

  #end(ticket: Ticket, outcome: Outcome, reason: unknown): void {
    if (!this.#leave(ticket, outcome)) return;
    ticket.reject(reason);
    this.#reportEmpty();
  }

  /** @returns false if the request had already ended */
  #leave(ticket: Ticket, outcome: Outcome): boolean {
    if (!this.#waiting.delete(ticket) && !this.#running.delete(ticket)) return false;
    this.#ended[outcome] += 1;
    if (ticket.queued !== undefined) {
      this.#rule.delete(ticket.queued.work);
      this.#ticketOf.delete(ticket.queued.work);
    }
    return true;
  }

  #reportEmpty(): void {
    if (this.#waiting.size + this.#running.size > 0) return;
    this.#cancelWake();
    for (const resolve of this.#onEmpty.splice(0)) resolve();
  }

  #tickets(): Ticket[] {
    return [...this.#running, ...this.#waiting];
  }
}

/** @throws ServiceError BACKEND_FAILED if these are not the scores of so many pairs */
function checkScores({ scores, vectors }: BatchScores, pairs: number): void {
  const isWhole = scores.length === pairs && Number.isInteger((vectors?.length ?? 0) / pairs);
  if (!isWhole || !scores.every(Number.isFinite) || vectors?.every(Number.isFinite) === false) {
    throw queueErrors.badScores();
  }
}
