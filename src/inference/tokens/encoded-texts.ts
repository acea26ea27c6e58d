import { setImmediate as turn } from "node:timers/promises";
import type { Encoding } from "tokenizers";
import { groupByUnits } from "./groups.ts";

/**
 * UTF-16 code units that are tokenized in one call; a longer text goes alone. Chosen: some 8 ms off the main thread, and at most
 * three times as many ids to fetch on it, which takes 5 ms.
 */
export const GROUP_UNITS = 8_192;
/** Ids that are fetched before the event loop turns. Chosen: 0.2 µs each, and another 3 ms for what is done with them. */
const FETCHED_IN_A_TURN = 16_384;
/** Ids that cost as much as one to fetch where they are only copied and compared. Chosen: some 10 ns each. */
const COPIED_FOR_ONE = 16;

/** Ids that stand for others: all from `from` on. */
export interface Replacement {
  readonly from: number;
  readonly by: number;
}

export interface TextSource {
  readonly encode: (texts: readonly string[]) => Promise<readonly Encoding[]>;
  readonly separatesNewlines: boolean;
  readonly replacement: Replacement | undefined;
  readonly signal: AbortSignal;
}

/**
 * Tokens of the texts of one request.
 *
 * A text is cut where the tokenizer provably cuts it, too (see `readVocabulary`): between two pieces of which one ends, or begins, with a
 * newline and the other does not. With Gemma's tokenizer these are nearly all borders between state, question, header and candidate,
 * so that a state is tokenized once and not again for each pair. What cannot be cut is tokenized whole.
 */
export class EncodedTexts {
  readonly #source: TextSource;
  readonly #segments = new Map<string, Segment>();
  /** By a text's pieces, since a segment of several is long and hashed anew each time it is put together. */
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
        if (encoding !== undefined) this.#segments.set(text, new Segment(encoding, this.#source.replacement));
      }
    }
  }

  /** Number of tokens of a text that has been added. */
  count(pieces: readonly string[]): number {
    return this.#segmentsOf(pieces).reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Ids of a text, added or not. The event loop turns from time to time.
   *
   * @returns [1 + tokens] behind `first`
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

/** The tokens of one segment. The library's object is let go once they are fetched. */
class Segment {
  readonly length: number;
  #encoding: Encoding | undefined;
  readonly #replacement: Replacement | undefined;
  #ids: Int32Array | undefined;

  constructor(encoding: Encoding, replacement: Replacement | undefined) {
    this.#replacement = replacement;
    this.length = encoding.getLength();
    this.#encoding = encoding;
  }

  get isFetched(): boolean {
    return this.#ids !== undefined;
  }

  get ids(): Int32Array {
    if (this.#ids === undefined) {
      this.#ids = Int32Array.from(this.#encoding?.getIds() ?? []);
      if (this.#replacement !== undefined) replaceIds(this.#ids, this.#replacement);
      this.#encoding = undefined;
    }
    return this.#ids;
  }
}

function replaceIds(ids: Int32Array, { from, by }: Replacement): void {
  for (let i = 0; i < ids.length; i++) if ((ids[i] ?? 0) >= from) ids[i] = by;
}

function isNewlineBorder(left: string, right: string): boolean {
  return left.endsWith("\n") !== right.startsWith("\n");
}
