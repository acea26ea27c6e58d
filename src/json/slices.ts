import { setImmediate } from "node:timers/promises";
import { ServiceError } from "../errors.ts";

/**
 * Long computations in slices, so that no request body makes the event loop stand still.
 *
 * A computation is a generator that yields wherever it could stop for a while. Its first slice runs at once, so
 * that short work never waits. What takes longer, or is known to before it begins, gets in line, and the first in line
 * runs a slice in each turn of the event loop until it ends:
 *
 *     turn 1: A        turn 2: A        turn 3: B        I/O and timers get their chance between the turns
 *
 * One after the other and not in rotation: a body of 2 MiB can become 90 MB of values, and in rotation 60 requests
 * held that much at once, until the heap was full and the process died (measured, Node 20). In order of arrival, so that
 * nobody starves; who leaves, leaves the line.
 */
export type Steps<T> = Generator<void, T, void>;

export interface SliceClock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Resolves in the next turn of the event loop. */
  pause(): Promise<unknown>;
}

export interface SliceOptions {
  /** Aborted when nobody waits for the result any more; looked at before each slice but the first, and in line. */
  readonly signal?: AbortSignal;
  /** Gets in line before its first slice: sixty bodies that arrive together would otherwise have theirs in one turn. */
  readonly isLong?: boolean;
  /** Goes to the head of the line: for work on what earlier work has built, which is kept in memory meanwhile. */
  readonly isContinuation?: boolean;
  readonly clock?: SliceClock;
}

/** Chosen: with a single step (a long token, a collection of garbage) on top, a slice stays under 20 ms. */
const SLICE_MS = 4;

const eventLoopClock: SliceClock = { now: () => performance.now(), pause: () => setImmediate() };

/**
 * Runs to the end, letting the event loop turn whenever a slice is used up.
 *
 * @throws ServiceError CANCELLED once `signal` is aborted
 */
export async function runSliced<T>(
  steps: Steps<T>,
  { signal, isLong = false, isContinuation = false, clock = eventLoopClock }: SliceOptions = {},
): Promise<T> {
  if (!isLong) {
    const first = runSlice(steps, clock);
    if (first.done) return first.value;
  }
  await getInLine(isContinuation, signal);
  try {
    for (;;) {
      await clock.pause();
      throwIfGone(signal);
      const slice = runSlice(steps, clock);
      if (!slice.done) continue;
      await clock.pause(); // what follows begins in a turn of its own
      return slice.value;
    }
  } finally {
    callNext();
  }
}

function runSlice<T>(steps: Steps<T>, clock: SliceClock): IteratorResult<void, T> {
  const start = clock.now();
  for (;;) {
    const step = steps.next();
    if (step.done || clock.now() - start >= SLICE_MS) return step;
  }
}

let isSomebodyServed = false;
const line: (() => void)[] = [];

/** Resolves when it is this computation's turn. @throws ServiceError CANCELLED when the caller leaves before */
async function getInLine(isContinuation: boolean, signal: AbortSignal | undefined): Promise<void> {
  throwIfGone(signal);
  if (!isSomebodyServed) {
    isSomebodyServed = true;
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const begin = () => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    const leave = () => {
      line.splice(line.indexOf(begin), 1);
      reject(callerGone());
    };
    signal?.addEventListener("abort", leave, { once: true });
    if (isContinuation) line.unshift(begin);
    else line.push(begin);
  });
}

function callNext(): void {
  const next = line.shift();
  if (next === undefined) isSomebodyServed = false;
  else next();
}

function throwIfGone(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw callerGone();
}

function callerGone(): ServiceError {
  return new ServiceError("CANCELLED", "The caller has left.");
}
