import type { Trial } from "./trial.ts";

/** Of each run, by its facts. */
const known = new WeakMap<object, Map<string, Promise<unknown>>>();

/** What several checks of one run look at, asked for once. */
export function shared<Found>(trial: Trial, name: string, find: () => Promise<Found>): Promise<Found> {
  const ofRun = known.get(trial.facts) ?? new Map<string, Promise<unknown>>();
  known.set(trial.facts, ofRun);
  const found = ofRun.get(name) ?? find();
  ofRun.set(name, found);
  return found as Promise<Found>; // a name stands for one kind of thing
}
