import type { ServiceError } from "../../errors.ts";
import type { Batch } from "../batches/batch.ts";
import { Dispatcher } from "../batches/dispatcher.ts";
import { HeldStates } from "../batches/held-states.ts";
import { RequestWork } from "../batches/request-work.ts";
import { ScoreCache } from "../batches/score-cache.ts";
import { SecondTries } from "../batches/second-tries.ts";
import type {
  Backend,
  BatchFacts,
  BatchScores,
  Clock,
  EngineSettings,
  QueueCounters,
  TurnedAway,
} from "../ports.ts";
import { Gate } from "./gate.ts";
import { type Admission, type Place, PlaceLife, type Ticket, worksOf } from "./place.ts";
import { isInvalid, queueErrors } from "./queue-errors.ts";
import { StandstillWatch } from "./standstill-watch.ts";
import { type Outcome, Tally } from "./tally.ts";

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
 * happens to a waiting request if the backend becomes slower or drops its state. A request that has begun is finished. A
 * request with nothing before it is always tried, so that too long forecasts get corrected.
 */
export class Scheduler {
  readonly #backend: Backend;
  readonly #clock: Clock;
  readonly #settings: EngineSettings;
  readonly #cache: ScoreCache;
  readonly #heldStates: HeldStates;
  readonly #dispatcher: Dispatcher;
  readonly #gate: Gate;
  readonly #secondTries = new SecondTries();
  /** Whether a second try is being computed. It may crash the process, so no other batch is sent meanwhile. */
  #isAlone = false;

  #obstacle: (() => ServiceError) | undefined = queueErrors.starting;
  #isDraining = false;
  #admitted = 0;
  readonly #waiting = new Set<Ticket>();
  readonly #running = new Set<Ticket>();
  #cancelWake: () => void = () => {};
  #onEmpty: (() => void)[] = [];
  readonly #tally = new Tally();
  readonly #standstill: StandstillWatch;
  #onBatch: (batch: BatchFacts) => void = () => {};

  constructor(backend: Backend, clock: Clock, settings: EngineSettings) {
    this.#backend = backend;
    this.#clock = clock;
    this.#settings = settings;
    this.#cache = new ScoreCache(settings.cacheSize);
    this.#heldStates = new HeldStates(backend.keptStates);
    this.#dispatcher = new Dispatcher(settings, this.#cache);
    this.#gate = new Gate(this.#dispatcher, clock);
    this.#standstill = new StandstillWatch(settings.deadlineMs, clock.now());
    backend.onReady(() => {
      this.#forgetHeldStates();
      this.#standstill.noteProgress(clock.now());
      this.#pump();
    });
  }

  /** Sets the listener for computed batches. */
  onBatch(listener: (batch: BatchFacts) => void): void {
    this.#onBatch = listener;
  }

  /** Whether work has made no progress for so long that this process will not recover. */
  isStuck(): boolean {
    const hasWork = !this.#dispatcher.isIdle && this.#backend.isReady;
    const deadlines = this.#tickets().map(({ life }) => life.deadlineAt);
    return this.#standstill.isStuck(this.#clock.now(), { hasWork, deadlines });
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
  admit(admission: Admission): Place {
    this.#checkAdmission(admission);
    const ticket: Ticket = {
      order: this.#admitted,
      textLength: admission.textLength ?? 0,
      life: new PlaceLife(this.#clock, admission, {
        onDeadline: () => this.#timeOut(ticket),
        onDeparture: () => this.#end(ticket, "cancelled", queueErrors.cancelled()),
      }),
    };
    this.#admitted += 1;
    this.#waiting.add(ticket);
    return {
      answer: ticket.life.answer,
      signal: ticket.life.signal,
      submit: (plan) => {
        if (ticket.life.isSettled || ticket.queued !== undefined) return;
        if (this.#timeOutIfLate(ticket, this.#clock.now())) return;
        const work = new RequestWork(ticket.order, plan, this.#heldStates);
        ticket.queued = { work, since: this.#clock.now() };
        this.#dispatcher.noteTokens(ticket.textLength, work);
        this.#dispatcher.answerKnown(ticket.queued.work);
        if (ticket.queued.work.isAnswered) this.#finish(ticket, ticket.queued);
        else this.#refuse(ticket, this.#gate.refusalByTokens(ticket, this.#tickets()));
        this.#pump();
      },
      refuse: (reason) => this.#end(ticket, isInvalid(reason) ? "refused" : "failed", reason),
    };
  }

  /** The error with which `admit` would reject a request now, or once `ahead` others have been admitted. */
  obstacle(ahead = 0): ServiceError | undefined {
    if (this.#obstacle !== undefined) return this.#obstacle();
    if (!this.#backend.isExpected) return queueErrors.lost();
    return this.#waiting.size + ahead >= this.#settings.queueCapacity ? queueErrors.full() : undefined;
  }

  /** Accepts no more requests; resolves when all accepted ones have been answered. */
  drain(): Promise<void> {
    this.#keepOut();
    return new Promise((resolve) => {
      this.#onEmpty.push(resolve);
      this.#pump();
      this.#reportEmpty();
    });
  }

  /** Ends at once: every remaining request gets DRAINING. */
  close(): void {
    this.#keepOut();
    for (const ticket of this.#tickets()) this.#end(ticket, "failed", queueErrors.draining());
    this.#cancelWake();
  }

  /** Counts a request that ended before `admit`. */
  countTurnedAway(reason: TurnedAway): void {
    this.#tally.countTurnedAway(reason);
  }

  /** Milliseconds until all work is done; 0 before there are measurements. */
  estimatedWaitMs(): number {
    return this.#dispatcher.estimatedWaitMs(worksOf(this.#tickets()), this.#clock.now());
  }

  counters(): QueueCounters {
    const { ended, batches, forwards } = this.#tally;
    const { completed, rejected, timedOut, failed, cancelled } = ended;
    return {
      queued: this.#waiting.size,
      estimatedWaitMs: this.estimatedWaitMs(),
      running: this.#running.size,
      completed,
      rejected,
      timedOut,
      failed,
      cancelled,
      batches,
      forwards,
      cacheEntries: this.#cache.size,
      cacheHits: this.#cache.hits,
    };
  }

  #checkAdmission(admission: Admission): void {
    const { signal, deadlineAt } = admission;
    if (signal.aborted) {
      this.#tally.ended.cancelled += 1;
      throw queueErrors.cancelled();
    }
    const obstacle = this.obstacle();
    if (obstacle !== undefined) {
      this.#tally.ended.rejected += 1;
      throw obstacle;
    }
    const now = this.#clock.now();
    if (now >= deadlineAt) {
      this.#tally.ended.timedOut += 1;
      throw queueErrors.tooLate();
    }
    const refusal = this.#gate.refusalByLength(admission, this.#tickets());
    if (refusal === undefined) return;
    this.#tally.ended.rejected += 1;
    throw refusal;
  }

  #keepOut(): void {
    this.#isDraining = true;
    this.#obstacle = queueErrors.draining;
  }

  /** Sends the next batch, unless the backend has enough to do, is not ready, nothing waits, or more requests are worth waiting for. */
  #pump(): void {
    this.#cancelWake();
    while (!this.#isAlone) {
      const roomMs = this.#dispatcher.untilRoomMs(this.#clock.now());
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
      for (const each of this.#gate.refusalsNow(this.#tickets())) this.#refuse(...each);
      const ready = this.#tickets().filter((ticket) => (ticket.queued?.work.remainingPairs ?? 0) > 0);
      if (ready.length === 0) return;
      if (!this.#backend.isReady) return; // called again by `onReady`
      const waitMs = this.#companyWaitMs(ready);
      if (waitMs > 0) {
        this.#wakeIn(waitMs);
        return;
      }
      const batch = this.#dispatcher.form(worksOf(ready), this.#clock.now());
      this.#heldStates.endBatch();
      this.#markBegun(ready);
      this.#finishAnswered();
      if (batch.pairCount > 0) void this.#compute(batch);
    }
  }

  /** @param ms infinite if `#pump` will be called when a batch ends */
  #wakeIn(ms: number): void {
    if (ms < Number.POSITIVE_INFINITY) this.#cancelWake = this.#clock.after(ms, () => this.#pump());
  }

  /** How much longer the first request after an idle time waits for others to join its batch. */
  #companyWaitMs(ready: readonly Ticket[]): number {
    if (this.#isDraining || ready.some((ticket) => ticket.begunAt !== undefined)) return 0;
    if (this.#dispatcher.isFull(worksOf(ready))) return 0;
    const since = Math.min(...ready.map((ticket) => ticket.queued?.since ?? Number.POSITIVE_INFINITY));
    return since + this.#settings.batchWaitMs - this.#clock.now();
  }

  #secondTry(): Batch | undefined {
    if (!this.#backend.isReady || !this.#dispatcher.isIdle) return undefined;
    return this.#secondTries.next(worksOf(this.#tickets()));
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
    if (this.#dispatcher.isIdle) this.#standstill.noteProgress(sentAt);
    const sent = this.#dispatcher.begin(batch, sentAt);
    this.#tally.batches += 1;
    let scored: BatchScores;
    try {
      scored = await this.#backend.score(batch.leaves());
      checkScores(scored, batch.pairCount);
    } catch (cause) {
      this.#dispatcher.end(sent, this.#clock.now());
      this.#standstill.noteProgress(this.#clock.now());
      this.#fail(batch, cause);
      return;
    }
    const now = this.#clock.now();
    this.#tally.forwards += scored.forwards;
    this.#dispatcher.end(sent, now, batch.allTokens - (scored.knownTokens ?? 0));
    this.#standstill.noteProgress(now);
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
    this.#finishAnswered();
  }

  /** Call when the process is new, or a batch has failed: the backend may not have the states. */
  #forgetHeldStates(): void {
    this.#heldStates.reset(this.#backend.keptStates);
  }

  #fail(batch: Batch, cause: unknown): void {
    this.#forgetHeldStates();
    const givenUp = this.#secondTries.take(batch);
    for (const ticket of this.#tickets()) {
      const isOver = ticket.queued && givenUp.has(ticket.queued.work);
      if (isOver) this.#end(ticket, "failed", queueErrors.failed(cause));
    }
  }

  #markBegun(ready: readonly Ticket[]): void {
    for (const ticket of ready) {
      if (ticket.begunAt !== undefined || !ticket.queued?.work.hasBegun) continue;
      ticket.begunAt = this.#clock.now();
      this.#waiting.delete(ticket);
      this.#running.add(ticket);
    }
  }

  #finishAnswered(): void {
    for (const ticket of this.#tickets()) {
      if (ticket.queued?.work.isAnswered) this.#finish(ticket, ticket.queued);
    }
  }

  #finish(ticket: Ticket, { work, since }: NonNullable<Ticket["queued"]>): void {
    const now = this.#clock.now();
    if (this.#timeOutIfLate(ticket, now)) return;
    const begunAt = ticket.begunAt ?? now;
    if (!this.#leave(ticket, "completed")) return;
    ticket.life.resolve({
      scores: work.scores,
      ...(work.vectors && { vectors: work.vectors }),
      inputTokens: work.inputTokens,
      cachedPairs: work.cachedPairs,
      ...(work.indistinct > 0 && { indistinct: work.indistinct }),
      timing: { queue: begunAt - since, inference: now - begunAt },
    });
    this.#reportEmpty();
  }

  #refuse(ticket: Ticket, refusal: ServiceError | undefined): void {
    if (refusal !== undefined) this.#end(ticket, "rejected", refusal);
  }

  /** Ends requests whose deadline has passed, because no batch may start for them. */
  #timeOutLate(): void {
    const now = this.#clock.now();
    for (const ticket of this.#tickets()) this.#timeOutIfLate(ticket, now);
  }

  /** Ends a request whose deadline has passed. Its timer may be late on a busy process. @returns whether it has passed */
  #timeOutIfLate(ticket: Ticket, now: number): boolean {
    const isLate = now >= ticket.life.deadlineAt;
    if (isLate) this.#timeOut(ticket);
    return isLate;
  }

  #timeOut(ticket: Ticket): void {
    this.#end(ticket, "timedOut", queueErrors.tooLate());
  }

  #end(ticket: Ticket, outcome: Outcome, reason: unknown): void {
    if (!this.#leave(ticket, outcome)) return;
    ticket.life.reject(reason);
    this.#reportEmpty();
  }

  /** @returns false if the request had already ended */
  #leave(ticket: Ticket, outcome: Outcome): boolean {
    if (!this.#waiting.delete(ticket) && !this.#running.delete(ticket)) return false;
    this.#tally.ended[outcome] += 1;
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
