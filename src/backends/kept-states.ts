import type { TokenTree } from "../inference/ports.ts";
import { sha256 } from "../inference/sha256.ts";

/**
 * Minimum tokens of a state worth caching. Chosen: encoding a shorter state costs little, and caching it would need copies
 * of a forward's results.
 */
export const SHORTEST_KEPT_STATE = 64;

/** Fewest tokens of a state that a cache of this size keeps; infinity if there is no cache. See `Backend.shortestKeptState`. */
export function shortestKeptState(stateCacheBytes: number): number {
  return stateCacheBytes === 0 ? Number.POSITIVE_INFINITY : SHORTEST_KEPT_STATE;
}

/** Cache key of a tree's state: the digest that the queue has computed, otherwise one of its tokens. */
export function stateKey({ state, stateKey }: TokenTree): string {
  return stateKey ?? sha256(state);
}
