import type { Clock } from "../../src/inference/ports.ts";
import { Latencies } from "../measure/latencies.ts";
import { NO_ANSWER, NOT_SENT, Outcomes } from "../measure/outcomes.ts";
import type { Random } from "../random.ts";

/** No place in the queue, and the deadline: what a server of the contract answers where more comes than it can do. */
const REFUSALS = [503, 504];

/** Requests under way at most; one that would be more is not sent and counts as a failure. */
const MOST_UNDER_WAY = 2_000;

export interface OpenLoopOptions {
  /** When each request is to be sent, in milliseconds from the start, ascending. */
  readonly arrivalsMs: readonly number[];
  /** Sends the request with this number. @returns its status, and what is wrong with the answer, if anything */
  readonly send: (index: number) => Promise<{ readonly status: number; readonly fault: string | undefined }>;
  readonly clock: Clock;
  /** How long it waits for answers after the last request was to be sent. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

export interface OpenLoopResult {
  /** Of the right answers alone. */
  readonly latencies: Latencies;
  /** Refusals are in the statuses and are no failures. */
  readonly outcomes: Outcomes;
  /** From the start to the last answer, right or not. */
  readonly elapsedMs: number;
}

/**
 * Sends requests at times that were fixed before, whatever becomes of those sent earlier, and counts each latency from
 * the intended time: a stall of the server, of the network or of this process is in the latencies of every request
 * that it delayed.
 *
 * Not with autocannon: for a rate it lets each connection send a whole second's requests as fast as answers come, then
 * pauses until the next second (httpClient.js, `reqsMadeThisSecond`); a connection that waits for an answer sends nothing,
 * and the missing latencies are made up afterwards (run.js, `recordValueWithExpectedInterval`), in whole milliseconds.
 */
export function openLoop({
  arrivalsMs,
  send,
  clock,
  patienceMs,
  signal,
}: OpenLoopOptions): Promise<OpenLoopResult> {
  const latencies = new Latencies();
  const outcomes = new Outcomes();
  const startAt = clock.now();
  let lastAt = startAt;
  let next = 0;
  let underWay = 0;
  return new Promise((resolve, reject) => {
    let cancel = () => {};
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      cancel();
      signal.removeEventListener("abort", end);
      for (let i = 0; i < underWay; i++) outcomes.failed(NO_ANSWER);
      if (signal.aborted) reject(signal.reason);
      else resolve({ latencies, outcomes, elapsedMs: lastAt - startAt });
    };
    const ask = async (index: number, intendedAt: number) => {
      underWay += 1;
      try {
        const { status, fault } = await send(index);
        if (isOver) return;
        lastAt = clock.now();
        if (fault === undefined) latencies.record(lastAt - intendedAt);
        outcomes.answered(status, REFUSALS.includes(status) ? undefined : fault);
      } catch (error) {
        if (!isOver) outcomes.failed(error instanceof Error ? error.message || error.name : String(error));
      }
      underWay -= 1;
      if (next === arrivalsMs.length && underWay === 0) end();
    };
    const sendDue = () => {
      for (
        let due = arrivalsMs[next];
        due !== undefined && startAt + due <= clock.now();
        due = arrivalsMs[next]
      ) {
        if (underWay < MOST_UNDER_WAY) void ask(next, startAt + due);
        else outcomes.failed(NOT_SENT);
        next += 1;
      }
      const due = arrivalsMs[next];
      const waitMs = due === undefined ? patienceMs : startAt + due - clock.now();
      cancel = clock.after(Math.max(0, waitMs), due === undefined ? end : sendDue);
      if (due === undefined && underWay === 0) end();
    };
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    else sendDue();
  });
}

/**
 * Times of independent callers: exponential gaps, so that requests come in bunches as they do in life.
 *
 * @param rate requests a second
 */
export function poissonArrivals(
  random: Random,
  rate: number,
  limits: { ms: number; count: number },
): number[] {
  const arrivals: number[] = [];
  if (!(rate > 0)) return arrivals;
  for (let at = 0; arrivals.length < limits.count; ) {
    at += (-Math.log(1 - random.next()) / rate) * 1000;
    if (at >= limits.ms) break;
    arrivals.push(at);
  }
  return arrivals;
}
