/**
 * Long computations in slices, so that no request body makes the event loop stand still.
 *
 * A computation is a generator that yields wherever it could stop for a while. Of all computations that
 * wait, one runs a slice in each turn of the event loop, in rotation:
 *
 *     turn 1: A        turn 2: B        turn 3: A        I/O and timers get their chance between the turns
 */
export type Steps<T> = Generator<void, T, void>;

export interface SliceClock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Resolves when it is this computation's turn again. */
  pause(): Promise<void>;
}

/** Chosen: with a single step (a long token, a collection of garbage) on top, a slice stays under 20 ms. */
const SLICE_MS = 4;

/** Runs to the end, letting the event loop turn whenever a slice is used up. Short work never waits. */
export async function runSliced<T>(steps: Steps<T>, clock: SliceClock = eventLoopClock): Promise<T> {
  let sliceStart = clock.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (clock.now() - sliceStart < SLICE_MS) continue;
    await clock.pause();
    sliceStart = clock.now();
  }
}

/** Runs to the end without a pause. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

// First in, first out. A turn is scheduled exactly while somebody waits.
const waiting: (() => void)[] = [];

function wakeOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(wakeOne);
}

const eventLoopClock: SliceClock = {
  now: () => performance.now(),
  pause: () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(wakeOne);
    }),
};
