import { createHash } from "node:crypto";
import { byteLength, type KeyValues } from "./key-values.ts";

/**
 * Keys and values of the states seen last, so that another question on one costs only the question.
 *
 * In memory only; the least recently used go first when `maxBytes` is passed. A state is found by the SHA-256 of
 * its tokens.
 */
export class StateCache {
  readonly #entries = new Map<string, { keyValues: KeyValues; bytes: number }>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  static key(tokens: Int32Array): string {
    return createHash("sha256")
      .update(new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength))
      .digest("base64");
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  get(key: string): KeyValues | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry); // the newest is last
    return entry.keyValues;
  }

  set(key: string, keyValues: KeyValues): void {
    const bytes = byteLength(keyValues);
    if (this.#entries.has(key) || bytes > this.#maxBytes) return;
    this.#entries.set(key, { keyValues, bytes });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#entries.delete(oldest);
      this.#bytes -= entry.bytes;
    }
  }
}
