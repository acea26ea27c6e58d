/**
 * Fewest tokens of a state that is worth keeping. Chosen: a shorter one is encoded in passing, and to keep it would cost
 * the copies of a forward's results.
 */
export const SHORTEST_KEPT_STATE = 64;

/** What the queue counts with: see `Backend.shortestKeptState`. */
export function shortestKeptState(stateCacheBytes: number): number {
  return stateCacheBytes === 0 ? Number.POSITIVE_INFINITY : SHORTEST_KEPT_STATE;
}
