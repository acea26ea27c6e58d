import type { Clock } from "./ports.ts";

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1; // setTimeout fires at once above it

/** The monotonic clock of this process. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, LONGEST_TIMEOUT_MS));
    return () => clearTimeout(timer);
  },
};
