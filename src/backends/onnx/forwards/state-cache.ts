import { LRUCache } from "lru-cache";
import type { TokenTree } from "../../../inference/ports.ts";
import { stateKey } from "../../kept-states.ts";
import { byteLength, type KeyValues } from "../../tensors/key-values.ts";

/**
 * Keys and values of recent states. Another question about a cached state costs only the question's tokens.
 *
 * In memory only. Evicts the least recently used states beyond `maxBytes`. A state larger than `maxBytes` is not cached.
 */
export class StateCache {
  readonly #states: LRUCache<string, KeyValues> | undefined;
  /** Lookups that found a state. */
  hits = 0;
  /** States that were computed and cached. */
  misses = 0;

  constructor(maxBytes: number) {
    if (maxBytes > 0) this.#states = new LRUCache({ maxSize: maxBytes, sizeCalculation: byteLength });
  }

  static key(tree: TokenTree): string {
    return stateKey(tree);
  }

  get keepsAny(): boolean {
    return this.#states !== undefined;
  }

  has(key: string): boolean {
    return this.#states?.has(key) ?? false;
  }

  get(key: string): KeyValues | undefined {
    const known = this.#states?.get(key);
    if (known !== undefined) this.hits += 1;
    return known;
  }

  set(key: string, keyValues: KeyValues): void {
    this.#states?.set(key, keyValues);
  }
}
