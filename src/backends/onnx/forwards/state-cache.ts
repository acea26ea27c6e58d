import { createHash } from "node:crypto";
import { LruCache } from "../../../inference/lru-cache.ts";
import { byteLength, type KeyValues } from "../tensors/key-values.ts";

/**
 * Least-recently-used cache of the keys and values of states, so that another question on a state costs only the question.
 * In memory only, at most `maxBytes`. The key is the SHA-256 of the state's tokens.
 */
export class StateCache {
  readonly #states: LruCache<KeyValues>;
  readonly keepsAny: boolean;

  constructor(maxBytes: number) {
    this.keepsAny = maxBytes > 0;
    this.#states = new LruCache(maxBytes, byteLength);
  }

  static key(tokens: Int32Array): string {
    return createHash("sha256")
      .update(new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength))
      .digest("base64");
  }

  has(key: string): boolean {
    return this.#states.has(key);
  }

  get(key: string): KeyValues | undefined {
    return this.#states.get(key);
  }

  set(key: string, keyValues: KeyValues): void {
    this.#states.set(key, keyValues);
  }
}
