import { createHash } from "node:crypto";
import { LruCache } from "../../../inference/lru-cache.ts";
import { byteLength, type KeyValues } from "../tensors/key-values.ts";

/**
 * Keys and values of the states seen last, so that another question on one costs only the question.
 *
 * In memory only; the least recently used go first when `maxBytes` is passed. A state is found by the SHA-256 of
 * its tokens.
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
