import type { KeptStates } from "../inference/ports.ts";

/**
 * Minimum tokens of a state worth caching. Chosen: encoding a shorter state costs little, and caching it would need copies
 * of a forward's results.
 */
export const SHORTEST_KEPT_STATE = 64;

/** What a backend without a cache keeps. */
export const KEEPS_NO_STATES: KeptStates = { fewestTokens: Number.POSITIVE_INFINITY };

/**
 * The states that a cache keeps.
 *
 * @param cacheBytes      its size; 0 if there is none
 * @param bytesPerToken   keys and values of a token, if known
 */
export function keptStates(cacheBytes: number, bytesPerToken: number | undefined): KeptStates {
  if (cacheBytes === 0) return KEEPS_NO_STATES;
  if (bytesPerToken === undefined) return { fewestTokens: SHORTEST_KEPT_STATE };
  return { fewestTokens: SHORTEST_KEPT_STATE, mostTokens: Math.floor(cacheBytes / bytesPerToken) };
}
