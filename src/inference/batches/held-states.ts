import { LRUCache } from "lru-cache";
import type { Node } from "../nodes.ts";
import type { KeptStates } from "../ports.ts";

/**
 * The states that the backend has probably cached: those of the latest batches, as many as it keeps. Its own cache may differ,
 * for example in the order in which it evicts states. So this serves for estimates of work only.
 */
export class HeldStates {
  #fewestTokens = Number.POSITIVE_INFINITY;
  /** Tokens by the state's key. */
  #states: LRUCache<string, number> | undefined;
  /** The same for states of the batch that is being formed. */
  readonly #ofBatch = new Map<string, number>();

  constructor(kept: KeptStates) {
    this.reset(kept);
  }

  /** Call when the backend's cache may be empty. @param kept states that it keeps from now on */
  reset({ fewestTokens, mostTokens = Number.MAX_SAFE_INTEGER }: KeptStates): void {
    this.#fewestTokens = fewestTokens;
    this.#ofBatch.clear();
    const keepsAny = mostTokens >= 1 && fewestTokens < Number.POSITIVE_INFINITY;
    this.#states = keepsAny
      ? new LRUCache({ maxSize: mostTokens, sizeCalculation: (tokens) => Math.max(1, tokens) })
      : undefined;
  }

  has({ key }: Node): boolean {
    return this.#states?.has(key) === true || this.#ofBatch.has(key);
  }

  /** Call when a batch gets a pair with this state. */
  note({ key, tokens }: Node): void {
    if (this.#states && tokens.length >= this.#fewestTokens) this.#ofBatch.set(key, tokens.length);
  }

  /** Call when a batch is formed. Only now are other states evicted: the backend recalls those of a batch before it keeps new ones. */
  endBatch(): void {
    for (const [key, tokens] of this.#ofBatch) this.#states?.set(key, tokens);
    this.#ofBatch.clear();
  }
}
