import { LRUCache } from "lru-cache";
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

  get isOn(): boolean {
    return this.#states !== undefined;
  }

  get(key: string): KeyValues | undefined {
    const cached = this.#states?.get(key);
    if (cached !== undefined) this.hits += 1;
    return cached;
  }

  set(key: string, keyValues: KeyValues): void {
    this.#states?.set(key, keyValues);
  }
}
