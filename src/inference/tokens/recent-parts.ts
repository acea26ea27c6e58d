import { LRUCache } from "lru-cache";
import { sha256 } from "../nodes.ts";
import type { PartEncoder, TextPart } from "./part-plan.ts";
import type { TextCacheCounters, TooManyTokens } from "./tokenizer.ts";

/** Size of the cache. Chosen: a thousand of the longest states, or about 20,000 labels. */
const MAX_BYTES = 8 * 2 ** 20;
/** Overhead of an entry: array, buffer, key and place in the map. Measured with Node 20: 370. */
const ENTRY_BYTES = 400;
/** Maximum UTF-16 code units of a request that are looked up; longer texts are never cached. Hashing them takes 0.5 ms of the main thread. Chosen: ordinary requests have fewer. */
const LOOKED_UP_UNITS = 131_072;

/**
 * Caches the tokens of recent texts. States are asked about again, labels and questions come with every request, and
 * tokenizing 1,000 tokens takes up to 3 ms. In memory only, by SHA-256: no text is stored.
 */
export class RecentParts implements PartEncoder {
  readonly #encoder: PartEncoder;
  readonly #tokens = new LRUCache<string, Int32Array>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength + ENTRY_BYTES,
  });

  #hits = 0;
  #misses = 0;

  constructor(encoder: PartEncoder) {
    this.#encoder = encoder;
  }

  async encodeParts(
    parts: readonly TextPart[],
    options: { readonly maxTooMany: number; readonly signal: AbortSignal },
  ): Promise<readonly (Int32Array | TooManyTokens)[]> {
    options.signal.throwIfAborted();
    let room = LOOKED_UP_UNITS;
    const lookups = parts.map((part): Lookup => {
      room -= part.text.length;
      return room >= 0 ? this.#lookUp(part) : { part, key: undefined, tokens: undefined };
    });
    const missing = lookups.filter(({ tokens }) => tokens === undefined);
    this.#hits += lookups.length - missing.length;
    this.#misses += missing.length;
    if (missing.length > 0) await this.#encode(missing, options);
    // the encoder may have stopped early: only parts before the first missing one are returned
    const end = lookups.findIndex(({ tokens }) => tokens === undefined);
    return lookups.slice(0, end < 0 ? lookups.length : end).flatMap(({ tokens }) => tokens ?? []);
  }

  get counters(): TextCacheCounters {
    return { hits: this.#hits, misses: this.#misses };
  }

  has(part: Pick<TextPart, "role" | "text">): boolean {
    return part.text.length <= LOOKED_UP_UNITS && this.#tokens.has(keyOf(part));
  }

  #lookUp(part: TextPart): Lookup {
    const key = keyOf(part);
    const known = this.#tokens.get(key);
    return { part, key, tokens: known !== undefined && known.length <= part.maxTokens ? known : undefined };
  }

  async #encode(
    lookups: readonly Lookup[],
    options: { readonly maxTooMany: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const parts = lookups.map(({ part }) => part);
    const encoded = await this.#encoder.encodeParts(parts, options);
    for (const [at, tokens] of encoded.entries()) {
      const lookup = lookups[at];
      if (lookup === undefined) continue;
      lookup.tokens = tokens;
      if (lookup.key !== undefined && tokens instanceof Int32Array) this.#tokens.set(lookup.key, tokens);
    }
  }
}

interface Lookup {
  readonly part: TextPart;
  readonly key: string | undefined;
  tokens: Int32Array | TooManyTokens | undefined;
}

/** Digest of a role and a text. */
function keyOf({ role, text }: Pick<TextPart, "role" | "text">): string {
  return role + sha256(text);
}
