import type { Trial } from "./trial.ts";

/** Results by name, keyed by the run's facts. */
const known = new WeakMap<object, Map<string, Promise<unknown>>>();

/** Computes once per run what several checks need. */
export function shared<Found>(trial: Trial, name: string, find: () => Promise<Found>): Promise<Found> {
  const ofRun = known.get(trial.facts) ?? new Map<string, Promise<unknown>>();
  known.set(trial.facts, ofRun);
  const found = ofRun.get(name) ?? find();
  ofRun.set(name, found);
  return found as Promise<Found>; // each name has one type
}
