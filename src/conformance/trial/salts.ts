import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";

/** Enough for 26 ** 11 salts. */
const LETTERS = 11;
export const MOST_SEED = 2 ** 32 - 1;

/** A place in the run that has salts of its own: what else runs meanwhile does not change them. */
interface Place {
  readonly path: string;
  taken: number;
}

const places = new AsyncLocalStorage<Place>();

/** Runs work whose salts follow from the seed and the name: within other such work, from its place too. */
export function withSalts<T>(name: string, work: () => Promise<T>): Promise<T> {
  const outer = places.getStore();
  return places.run({ path: outer === undefined ? name : `${outer.path}/${name}`, taken: 0 }, work);
}

/** A word that no other request of this run has held, nor any request of a run with another seed: it is in no cache. */
export function nonce(): string {
  const place = places.getStore();
  if (place === undefined) throw new Error("salts are for the work of a check");
  place.taken += 1;
  const digest = createHash("sha256").update(`${place.path}#${place.taken}`).digest();
  return Array.from(digest.subarray(0, LETTERS), (byte) => String.fromCharCode(97 + (byte % 26))).join("");
}

export function randomSeed(): number {
  return Math.floor(Math.random() * (MOST_SEED + 1));
}
