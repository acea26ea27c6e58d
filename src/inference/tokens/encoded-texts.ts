import { setImmediate as turn } from "node:timers/promises";
import type { Encoding } from "tokenizers";
import { groupByUnits } from "../collections.ts";

/**
 * UTF-16 code units that are tokenized in one call; a longer text has a call of its own. Chosen: this takes about 8 ms off
 * the main thread, and yields at most three times as many ids, which take 5 ms to fetch on the main thread.
 */
export const GROUP_UNITS = 8_192;
/** Ids fetched between two turns of the event loop. Chosen: fetching takes 0.2 µs each, processing another 3 ms in total. */
const FETCHED_IN_A_TURN = 16_384;
/** Copying and comparing this many ids costs as much as fetching one. Chosen: about 10 ns each. */
const COPIED_FOR_ONE = 16;

export interface TextSource {
  readonly encode: (texts: readonly string[]) => Promise<readonly Encoding[]>;
  readonly separatesNewlines: boolean;
  readonly signal: AbortSignal;
}

/**
 * Tokens of the texts of one request.
 *
 * A text is split where the tokenizer provably splits it, too (see `readVocabulary`): between two pieces where either the
 * first ends with a newline or the second begins with one, but not both. With Gemma's tokenizer, these are nearly all borders
 * between state, question, header and candidate. So a state is tokenized once instead of once per pair. Texts that cannot be
 * split are tokenized whole.
 */
export class EncodedTexts {
  readonly #source: TextSource;
  readonly #segments = new Map<string, Segment>();
  /** The segments of each text. Cached, because concatenating and hashing long segments again is slow. */
  readonly #cuts = new WeakMap<readonly string[], readonly string[]>();
  #fetched = 0;

  constructor(source: TextSource) {
    this.#source = source;
  }

  /** Tokenizes texts, each given in pieces, off the main thread. @throws the signal's reason */
  async add(texts: readonly (readonly string[])[]): Promise<void> {
    const segments = new Set(texts.flatMap((pieces) => this.#cut(pieces)));
    const fresh = [...segments].filter((segment) => !this.#segments.has(segment));
    for (const group of groupByUnits(fresh, (text) => text.length, GROUP_UNITS)) {
      this.#source.signal.throwIfAborted();
      const encodings = await this.#source.encode(group);
      for (const [i, text] of group.entries()) {
        const encoding = encodings[i];
        if (encoding !== undefined) this.#segments.set(text, new Segment(encoding));
      }
    }
  }

  /** Number of tokens of a text that has been added. */
  count(pieces: readonly string[]): number {
    return this.#segmentsOf(pieces).reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Ids of a text, which need not have been added. Yields to the event loop regularly.
   *
   * @returns [1 + tokens] `first`, then the ids
   */
  async ids(first: number, pieces: readonly string[]): Promise<Int32Array> {
    await this.add([pieces]);
    const segments = this.#segmentsOf(pieces);
    const ids = new Int32Array(1 + this.count(pieces));
    await this.#makeRoom(ids.length / COPIED_FOR_ONE);
    ids[0] = first;
    let at = 1;
    for (const segment of segments) {
      if (!segment.isFetched) await this.#makeRoom(segment.length);
      ids.set(segment.ids, at);
      at += segment.length;
    }
    return ids;
  }

  async #makeRoom(ids: number): Promise<void> {
    if (this.#fetched + ids > FETCHED_IN_A_TURN) {
      await turn(undefined, { signal: this.#source.signal });
      this.#fetched = 0;
    }
    this.#fetched += ids;
  }

  #segmentsOf(pieces: readonly string[]): readonly Segment[] {
    return this.#cut(pieces).map((text) => {
      const segment = this.#segments.get(text);
      if (segment === undefined) throw new Error("a text is used before it is tokenized");
      return segment;
    });
  }

  #cut(pieces: readonly string[]): readonly string[] {
    const known = this.#cuts.get(pieces);
    if (known !== undefined) return known;
    const segments: string[] = [];
    this.#cuts.set(pieces, segments);
    for (const piece of pieces) {
      const last = segments.at(-1);
      const isCut = last === undefined || (this.#source.separatesNewlines && isNewlineBorder(last, piece));
      if (isCut) segments.push(piece);
      else segments[segments.length - 1] = last + piece;
    }
    return segments;
  }
}

/** The tokens of one segment. The library's object is released once they are fetched. */
class Segment {
  readonly length: number;
  #encoding: Encoding | undefined;
  #ids: Int32Array | undefined;

  constructor(encoding: Encoding) {
    this.length = encoding.getLength();
    this.#encoding = encoding;
  }

  get isFetched(): boolean {
    return this.#ids !== undefined;
  }

  get ids(): Int32Array {
    if (this.#ids === undefined) {
      this.#ids = Int32Array.from(this.#encoding?.getIds() ?? []);
      this.#encoding = undefined;
    }
    return this.#ids;
  }
}

function isNewlineBorder(left: string, right: string): boolean {
  return left.endsWith("\n") !== right.startsWith("\n");
}
