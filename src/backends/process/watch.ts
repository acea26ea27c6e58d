import type { Clock } from "../../inference/clock.ts";

/** Time between checks. Chosen. */
const TICK_MS = 250;

/**
 * Calls back once something has taken too long. Time in which this process was stopped, or too busy to run its timers, does
 * not count, because it could not receive answers then.
 *
 * @param ms time limit
 * @returns a function that cancels the watch
 */
export function watch(clock: Clock, ms: number, onOver: () => void): () => void {
  let left = ms;
  let cancel = () => {};
  const next = () => {
    const since = clock.now();
    cancel = clock.after(Math.min(left, TICK_MS), () => {
      left -= Math.min(clock.now() - since, 2 * TICK_MS);
      if (left > 0) next();
      else onOver();
    });
  };
  next();
  return () => cancel();
}
