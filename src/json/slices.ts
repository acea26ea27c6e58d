import { setImmediate } from "node:timers/promises";
import { ServiceError } from "../errors.ts";

/**
 * Runs long computations in slices, so that no request body blocks the event loop.
 *
 * A computation is a generator that yields wherever it can be paused. Its first slice runs at once, so short work never
 * waits. Longer work joins a queue. The computation at the head of the queue runs one slice per turn of the event loop,
 * until it ends:
 *
 *     turn 1: A        turn 2: A        turn 3: B        I/O and timers run between the turns
 *
 * Computations run one after the other, in order of arrival, not in rotation: a body of 2 MiB can become 90 MB of
 * values. In rotation, 60 requests would hold that much at once and fill the heap.
 */
export type Steps<T> = Generator<void, T, void>;

export interface SliceClock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Resolves in the next turn of the event loop. */
  pause(): Promise<unknown>;
}

export interface SliceOptions {
  /**
   * Aborted when the result is no longer wanted: the caller has left, or the deadline has passed. Checked in the queue,
   * and before each slice but the first. Its reason is thrown if that is a ServiceError.
   */
  readonly signal?: AbortSignal;
  /**
   * Joins the queue before its first slice. Otherwise the first slices of bodies that arrive together share one turn.
   */
  readonly isLong?: boolean;
  /** Joins at the head of the queue. For work on the result of earlier work, which stays in memory until then. */
  readonly isContinuation?: boolean;
  readonly clock?: SliceClock;
}

/** Chosen: a slice stays under 20 ms even if its last step is slow (a long token, a garbage collection). */
const SLICE_MS = 4;

const eventLoopClock: SliceClock = { now: () => performance.now(), pause: () => setImmediate() };

/**
 * Runs a computation to its end. After each slice the event loop gets a turn.
 *
 * @throws ServiceError the reason of `signal` once it is aborted, by default CANCELLED
 */
export async function runSliced<T>(
  steps: Steps<T>,
  { signal, isLong = false, isContinuation = false, clock = eventLoopClock }: SliceOptions = {},
): Promise<T> {
  if (!isLong) {
    const first = runSlice(steps, clock);
    if (first.done) return first.value;
  }
  await joinQueue(isContinuation, signal);
  try {
    for (;;) {
      await clock.pause();
      throwIfEnded(signal);
      const slice = runSlice(steps, clock);
      if (!slice.done) continue;
      await clock.pause(); // what follows begins in a turn of its own
      return slice.value;
    }
  } finally {
    startNext();
  }
}

function runSlice<T>(steps: Steps<T>, clock: SliceClock): IteratorResult<void, T> {
  const start = clock.now();
  for (;;) {
    const step = steps.next();
    if (step.done || clock.now() - start >= SLICE_MS) return step;
  }
}

let isBusy = false;
const queue: (() => void)[] = [];

/** Resolves when it is this computation's turn. @throws ServiceError as `throwIfEnded`, also while it waits */
async function joinQueue(isContinuation: boolean, signal: AbortSignal | undefined): Promise<void> {
  throwIfEnded(signal);
  if (!isBusy) {
    isBusy = true;
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const begin = () => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    const leave = () => {
      queue.splice(queue.indexOf(begin), 1);
      reject(endOf(signal));
    };
    signal?.addEventListener("abort", leave, { once: true });
    if (isContinuation) queue.unshift(begin);
    else queue.push(begin);
  });
}

function startNext(): void {
  const next = queue.shift();
  if (next === undefined) isBusy = false;
  else next();
}

/** @throws ServiceError the reason of an aborted signal, by default CANCELLED */
export function throwIfEnded(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw endOf(signal);
}

function endOf(signal: AbortSignal | undefined): ServiceError {
  const reason: unknown = signal?.reason;
  return reason instanceof ServiceError ? reason : new ServiceError("CANCELLED", "The caller has left.");
}
