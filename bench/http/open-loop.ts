import { setMaxListeners } from "node:events";
import { messageOf } from "../../src/errors.ts";
import type { Clock } from "../../src/inference/clock.ts";
import { NO_ANSWER, NOT_SENT, Tally } from "../measure/tally.ts";

/** Maximum concurrent requests of the open loop. Further requests are not sent and count as failures. */
const MOST_UNDER_WAY = 2_000;
/** Statuses of an overloaded server: queue full, deadline exceeded. */
const REFUSALS = [503, 504];

/** How requests are sent. */
export interface Loop {
  /**
   * Sends the request with this number. Rejects without an answer.
   *
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

export interface LoopResult {
  readonly tally: Tally;
  /** From the start to the last answer, correct or not. */
  readonly elapsedMs: number;
}

/** A loop that is running. */
interface Running {
  readonly tally: Tally;
  readonly startAt: number;
  underWay(): number;
  isOver(): boolean;
  /** Sends the next request and counts how it ends. @param meantAt from when its latency counts */
  ask(meantAt: number): Promise<void>;
  /** Aborts what is in progress. */
  end(): void;
  /** Calls back after this time unless the loop has ended. */
  after(ms: number, callback: () => void): void;
}

/** @param allowed statuses that are no failures */
function runLoop(
  { send, clock, signal }: Loop,
  allowed: readonly number[],
  begin: (running: Running) => void,
): Promise<LoopResult> {
  const tally = new Tally();
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // one for each concurrent request
  const startAt = clock.now();
  let [lastAt, sent, underWay] = [startAt, 0, 0];
  return new Promise((resolve, reject) => {
    let cancels: (() => void)[] = [];
    const end = () => {
      if (stop.signal.aborted) return;
      for (const cancel of cancels.splice(0)) cancel();
      signal.removeEventListener("abort", end);
      stop.abort();
      if (signal.aborted) reject(signal.reason);
      else resolve({ tally, elapsedMs: lastAt - startAt });
    };
    const isOver = () => stop.signal.aborted;
    const ask = async (meantAt: number) => {
      underWay += 1;
      try {
        const { status, fault } = await send(sent++, stop.signal);
        if (isOver()) return;
        lastAt = clock.now();
        if (fault === undefined) tally.record(lastAt - meantAt);
        tally.answered(status, allowed.includes(status) ? undefined : fault);
      } catch (error) {
        if (!isOver()) tally.failed(messageOf(error));
      } finally {
        underWay -= 1;
      }
    };
    const after = (ms: number, callback: () => void) => {
      const cancel = clock.after(ms, () => {
        cancels = cancels.filter((each) => each !== cancel);
        callback();
      });
      cancels.push(cancel);
    };
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    else begin({ tally, startAt, underWay: () => underWay, isOver, ask, end, after });
  });
}

export interface OpenLoop extends Loop {
  /** Send times in milliseconds from the start, ascending. */
  readonly arrivalsMs: readonly number[];
}

/**
 * Sends requests at fixed times, independent of earlier answers, and measures each latency from the intended send time.
 * So a stall of the server, the network or this process shows in the latencies of all requests that it delays.
 * Refusals count in the statuses and not as failures.
 */
export function openLoop(loop: OpenLoop): Promise<LoopResult> {
  const { arrivalsMs, patienceMs, clock } = loop;
  return runLoop(loop, REFUSALS, ({ tally, startAt, underWay, isOver, ask, end, after }) => {
    let next = 0;
    const ended = () => {
      if (!isOver() && next === arrivalsMs.length && underWay() === 0) end();
    };
    const sendDue = () => {
      let due = arrivalsMs[next];
      for (; due !== undefined && startAt + due <= clock.now(); due = arrivalsMs[next]) {
        next += 1;
        if (underWay() < MOST_UNDER_WAY) void ask(startAt + due).then(ended);
        else tally.failed(NOT_SENT);
      }
      if (due !== undefined) return after(Math.max(0, startAt + due - clock.now()), sendDue);
      after(patienceMs, () => {
        for (let waiting = underWay(); waiting > 0; waiting--) tally.failed(NO_ANSWER);
        end();
      });
      ended();
    };
    sendDue();
  });
}
