import { setMaxListeners } from "node:events";
import { messageOf } from "../../src/errors.ts";
import type { Clock } from "../../src/inference/clock.ts";
import { NO_ANSWER, NOT_SENT, Tally } from "../measure/tally.ts";

/** Maximum concurrent requests of the open loop. Further requests are not sent and count as failures. */
const MOST_UNDER_WAY = 2_000;
/** Statuses of an overloaded server: queue full, deadline exceeded. */
const REFUSALS = [503, 504];

interface OpenLoopOptions {
  /** Send times in milliseconds from the start, ascending. */
  readonly arrivalsMs: readonly number[];
  /**
   * Sends the request with this number. Rejects without an answer.
   *
   * @param signal aborted at the end of the loop
   * @returns its status, and the fault of the answer, if any
   */
  readonly send: (
    index: number,
    signal: AbortSignal,
  ) => Promise<{ readonly status: number; readonly fault: string | undefined }>;
  readonly clock: Clock;
  /** Maximum wait for answers after the last send time. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

/** The result of a loop, open or closed. */
export interface LoopResult {
  readonly tally: Tally;
  /** From the start to the last answer, correct or not. */
  readonly elapsedMs: number;
}

/**
 * Sends requests at fixed times, independent of earlier answers, and measures each latency from the intended send time.
 * So a stall of the server, the network or this process shows in the latencies of all requests that it delays.
 * Refusals count in the statuses and not as failures.
 *
 * Not by autocannon: of its connections, one that waits for an answer sends nothing.
 */
export function openLoop({
  arrivalsMs,
  send,
  clock,
  patienceMs,
  signal,
}: OpenLoopOptions): Promise<LoopResult> {
  const tally = new Tally();
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // one for each concurrent request
  const startAt = clock.now();
  let [lastAt, next, underWay] = [startAt, 0, 0];
  return new Promise((resolve, reject) => {
    let cancel = () => {};
    const isOver = () => stop.signal.aborted;
    const end = () => {
      if (isOver()) return;
      cancel();
      signal.removeEventListener("abort", end);
      stop.abort();
      for (let waiting = underWay; waiting > 0; waiting--) tally.failed(NO_ANSWER);
      if (signal.aborted) reject(signal.reason);
      else resolve({ tally, elapsedMs: lastAt - startAt });
    };
    const ask = async (index: number, meantAt: number) => {
      underWay += 1;
      try {
        const { status, fault } = await send(index, stop.signal);
        if (isOver()) return;
        lastAt = clock.now();
        if (fault === undefined) tally.record(lastAt - meantAt);
        tally.answered(status, REFUSALS.includes(status) ? undefined : fault);
      } catch (error) {
        if (!isOver()) tally.failed(messageOf(error));
      }
      underWay -= 1;
      if (next === arrivalsMs.length && underWay === 0) end();
    };
    const sendDue = () => {
      let due = arrivalsMs[next];
      for (; due !== undefined && startAt + due <= clock.now(); due = arrivalsMs[next]) {
        if (underWay < MOST_UNDER_WAY) void ask(next, startAt + due);
        else tally.failed(NOT_SENT);
        next += 1;
      }
      const waitMs = due === undefined ? patienceMs : startAt + due - clock.now();
      cancel = clock.after(Math.max(0, waitMs), due === undefined ? end : sendDue);
      if (due === undefined && underWay === 0) end();
    };
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    else sendDue();
  });
}
