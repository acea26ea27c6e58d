/** Monotonic time source, injected so that tests never sleep. Every `...At` in the core is a time of this clock. */
export interface Clock {
  /** Milliseconds since an arbitrary moment; not a calendar time. */
  now(): number;
  /** Calls back once after `ms` milliseconds. @returns a function that cancels the call */
  after(ms: number, callback: () => void): () => void;
}

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1; // setTimeout fires at once above it

/** The monotonic clock of this process. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, LONGEST_TIMEOUT_MS));
    return () => clearTimeout(timer);
  },
};
