import { closest, distance } from "fastest-levenshtein";

/** The known name that a mistyped name probably means; undefined if none is similar. */
export function likely(given: string, known: readonly string[]): string | undefined {
  if (given === "" || known.length === 0) return undefined;
  const nearest = closest(given, known);
  const most = Math.max(1, Math.floor(Math.max(given.length, nearest.length) / 3)); // one letter in three may differ
  if (distance(given, nearest) <= most) return nearest;
  return known.find((name) => given.length > 1 && name.startsWith(given));
}

/** `; did you mean NAME?` or nothing. */
export function didYouMean(given: string, known: readonly string[]): string {
  const name = likely(given, known);
  return name === undefined ? "" : `; did you mean ${name}?`;
}
