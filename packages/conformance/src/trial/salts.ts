import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";

/** Letters per salt, which give 26 ** 11 salts. */
const LETTERS = 11;
export const MOST_SEED = 2 ** 32 - 1;

/** A scope with its own sequence of salts, independent of concurrent work. */
interface Place {
  readonly path: string;
  taken: number;
}

const places = new AsyncLocalStorage<Place>();

/** Runs work whose salts follow from the seed and the name, and from the enclosing scope if there is one. */
export function withSalts<T>(name: string, work: () => Promise<T>): Promise<T> {
  const outer = places.getStore();
  return places.run({ path: outer === undefined ? name : `${outer.path}/${name}`, taken: 0 }, work);
}

/** A word that no other request of this run, or of a run with another seed, contains. Keeps pairs out of caches. */
export function nonce(): string {
  const place = places.getStore();
  if (place === undefined) throw new Error("nonce() was called outside withSalts()");
  place.taken += 1;
  const digest = createHash("sha256").update(`${place.path}#${place.taken}`).digest();
  return Array.from(digest.subarray(0, LETTERS), (byte) => String.fromCharCode(97 + (byte % 26))).join("");
}

export function randomSeed(): number {
  return Math.floor(Math.random() * (MOST_SEED + 1));
}
