import type { Clock } from "../../src/inference/clock.ts";
import { Latencies } from "../measure/latencies.ts";
import { NO_ANSWER, NOT_SENT, Outcomes } from "../measure/outcomes.ts";
import type { Random } from "../random.ts";

/** Statuses of an overloaded server: queue full, deadline exceeded. */
const REFUSALS = [503, 504];

/** Maximum concurrent requests. Further requests are not sent and count as failures. */
const MOST_UNDER_WAY = 2_000;

export interface OpenLoopOptions {
  /** Send times in milliseconds from the start, ascending. */
  readonly arrivalsMs: readonly number[];
  /** Sends the request with this number. @returns its status, and the fault of the answer, if any */
  readonly send: (index: number) => Promise<{ readonly status: number; readonly fault: string | undefined }>;
  readonly clock: Clock;
  /** Maximum wait for answers after the last send time. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

export interface OpenLoopResult {
  /** Of correct answers only. */
  readonly latencies: Latencies;
  /** Refusals count in the statuses and not as failures. */
  readonly outcomes: Outcomes;
  /** From the start to the last answer, correct or not. */
  readonly elapsedMs: number;
}

/**
 * Sends requests at fixed times, independent of earlier answers, and measures each latency from the intended send time.
 * So a stall of the server, the network or this process shows in the latencies of all requests that it delays.
 *
 * autocannon is not used here. For a given rate, each of its connections sends a second's requests as fast as answers
 * come and then pauses (httpClient.js, `reqsMadeThisSecond`). A connection that waits for an answer sends nothing, and
 * the missing latencies are estimated afterwards (run.js, `recordValueWithExpectedInterval`), in whole milliseconds.
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
 * Send times of independent callers: exponential gaps (a Poisson process).
 *
 * @param rate requests per second
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
