import { setImmediate } from "node:timers/promises";
import { ServiceError } from "../errors.ts";

/**
 * Long computations in slices, so that no request body makes the event loop stand still.
 *
 * A computation is a generator that yields wherever it could stop for a while. Its first slice runs at once, so
 * that short work never waits. What takes longer gets in line, and the first in line runs a slice in each turn
 * of the event loop until it ends:
 *
 *     turn 1: A        turn 2: A        turn 3: B        I/O and timers get their chance between the turns
 *
 * One after the other and not in rotation: a body of 2 MiB can become 90 MB of values, and in rotation 60 requests
 * held that much at once, until the heap was full and the process died (measured, Node 20).
 */
export type Steps<T> = Generator<void, T, void>;

export interface SliceClock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Resolves in the next turn of the event loop. */
  pause(): Promise<unknown>;
}

export interface SliceOptions {
  /** Aborted when nobody waits for the result any more; looked at before each further slice. */
  readonly signal?: AbortSignal;
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
  { signal, isContinuation = false, clock = eventLoopClock }: SliceOptions = {},
): Promise<T> {
  const first = runSlice(steps, clock);
  if (first.done) return first.value;
  await getInLine(isContinuation);
  try {
    for (;;) {
      if (signal?.aborted) throw new ServiceError("CANCELLED", "The caller has left.");
      await clock.pause();
      const slice = runSlice(steps, clock);
      if (slice.done) return slice.value;
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

/** Resolves when it is this computation's turn. */
async function getInLine(isContinuation: boolean): Promise<void> {
  if (!isSomebodyServed) {
    isSomebodyServed = true;
    return;
  }
  await new Promise<void>((resolve) => {
    if (isContinuation) line.unshift(resolve);
    else line.push(resolve);
  });
}

function callNext(): void {
  const next = line.shift();
  if (next === undefined) isSomebodyServed = false;
  else next();
}
