import { LRUCache } from "lru-cache";
import type { KeptStates } from "../ports.ts";
import type { KeyedNode } from "./pairs.ts";

/**
 * The states that the backend has probably cached: those of the latest batches, as many as it keeps. Its own cache may differ,
 * for example after a batch that failed. So this serves for estimates only.
 */
export class HeldStates {
  #fewestTokens = Number.POSITIVE_INFINITY;
  /** Tokens by the state's key. */
  #states: LRUCache<string, number> | undefined;

  constructor(kept: KeptStates) {
    this.reset(kept);
  }

  /** Call when the backend's cache is empty. @param kept states that it keeps from now on */
  reset({ fewestTokens, mostTokens = Number.MAX_SAFE_INTEGER }: KeptStates): void {
    this.#fewestTokens = fewestTokens;
    const keepsAny = mostTokens >= 1 && fewestTokens < Number.POSITIVE_INFINITY;
    this.#states = keepsAny
      ? new LRUCache({ maxSize: mostTokens, sizeCalculation: (tokens) => Math.max(1, tokens) })
      : undefined;
  }

  has({ key }: KeyedNode): boolean {
    return this.#states?.has(key) ?? false;
  }

  /** Call when a batch gets a pair with this state. */
  note({ key, tokens }: KeyedNode): void {
    if (tokens.length >= this.#fewestTokens) this.#states?.set(key, tokens.length);
  }
}
