import type { ServiceError } from "../../errors.ts";
import type { Dispatcher } from "../batches/dispatcher.ts";
import type { Clock } from "../ports.ts";
import { Appointments } from "./appointments.ts";
import { type Admission, type Ticket, worksOf } from "./place.ts";
import { queueErrors } from "./queue-errors.ts";

/** Forecasts are multiplied by this before a request is accepted, as a margin for forecasts that are too short. Chosen. */
const PROMISE_MARGIN = 1.25;
const NONE: ReadonlyMap<Ticket, ServiceError> = new Map();

/**
 * Refuses requests that cannot be answered before their deadline. It checks each request three times: by the length of its
 * texts, before they are tokenized; by its tokens; and while it waits, in case the backend has become slower or has dropped a
 * cached state.
 */
export class Gate {
  readonly #dispatcher: Dispatcher;
  readonly #clock: Clock;
  readonly #appointments = new Appointments();

  constructor(dispatcher: Dispatcher, clock: Clock) {
    this.#dispatcher = dispatcher;
    this.#clock = clock;
  }

  /**
   * The refusal of a long request that is not tokenized yet. A state whose tokens are cached does not count: tokenizing it
   * costs nothing, and the backend may have cached it, too.
   *
   * @param admission without a length, the request is not refused
   * @param tickets   all other requests
   */
  refusalByLength(
    { textLength = 0, untokenizedLength, deadlineAt }: Admission,
    tickets: readonly Ticket[],
  ): ServiceError | undefined {
    let late = this.#lateByLength(textLength, deadlineAt, tickets);
    if (late !== undefined && untokenizedLength !== undefined)
      late = this.#lateByLength(untokenizedLength(), deadlineAt, tickets);
    return late && this.#overloaded(late.byMs, late.ownMs);
  }

  /** By how much a long request would miss its deadline, and how long it takes alone. */
  #lateByLength(
    textLength: number,
    deadlineAt: number,
    tickets: readonly Ticket[],
  ): { readonly byMs: number; readonly ownMs: number } | undefined {
    if (textLength === 0 || !this.#dispatcher.isLong(textLength)) return undefined;
    const now = this.#clock.now();
    const waiting = tickets.reduce((sum, each) => sum + (each.queued ? 0 : each.textLength), 0);
    const endMs = this.#dispatcher.expectedEndMs(textLength, worksOf(tickets), waiting, now);
    const byMs = PROMISE_MARGIN * endMs - (deadlineAt - now);
    return byMs > 0 ? { byMs, ownMs: this.#dispatcher.ownMs(textLength) } : undefined;
  }

  /** The refusal of a request that has just been tokenized. @param tickets all requests, this one included */
  refusalByTokens(ticket: Ticket, tickets: readonly Ticket[]): ServiceError | undefined {
    return this.#late(tickets, (other) => other === ticket, PROMISE_MARGIN).get(ticket);
  }

  /** The refusals of waiting requests that have not begun. */
  refusalsNow(tickets: readonly Ticket[]): ReadonlyMap<Ticket, ServiceError> {
    return this.#late(tickets, () => true, 1);
  }

  /** @param margin factor by which forecasts are multiplied */
  #late(
    tickets: readonly Ticket[],
    isAsked: (ticket: Ticket) => boolean,
    margin: number,
  ): ReadonlyMap<Ticket, ServiceError> {
    const now = this.#clock.now();
    if (this.#areInTime(tickets, now, margin)) return NONE;
    const waiting = tickets.flatMap((ticket) => {
      const work = ticket.queued?.work;
      if (work === undefined || work.remainingPairs === 0) return [];
      const isRefusable = ticket.begunAt === undefined && isAsked(ticket);
      return [{ ticket, work, leftMs: ticket.life.deadlineAt - now, isRefusable }];
    });
    const refusals = new Map<Ticket, ServiceError>();
    for (const [{ ticket, work, leftMs }, endMs] of this.#dispatcher.late(waiting, now, margin)) {
      refusals.set(ticket, this.#overloaded(endMs - leftMs, this.#dispatcher.workMs(work)));
    }
    return refusals;
  }

  /** Whether even the longest forecast is within all deadlines. Then none needs to be computed. */
  #areInTime(tickets: readonly Ticket[], now: number, margin: number): boolean {
    let tokens = 0;
    let shortestMs = Number.POSITIVE_INFINITY;
    for (const { queued, life } of tickets) {
      if (queued === undefined || queued.work.remainingPairs === 0) continue;
      tokens += queued.work.remainingTokens;
      shortestMs = Math.min(shortestMs, life.deadlineAt - now);
    }
    return this.#dispatcher.longestEndMs(tokens, now, margin) <= shortestMs;
  }

  #overloaded(lateByMs: number, ownMs: number): ServiceError {
    return queueErrors.overloaded(this.#appointments.next(this.#clock.now(), { lateByMs, ownMs }));
  }
}
