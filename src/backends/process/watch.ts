import type { Clock } from "../../inference/ports.ts";

/** Chosen: how often time is looked at. */
const TICK_MS = 250;

/**
 * Calls back once something has taken too long. Time in which this process itself was stopped, or too busy for its timers, does not
 * count: others could not be heard in it.
 *
 * @param ms that it may take
 * @returns what ends the watch
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
