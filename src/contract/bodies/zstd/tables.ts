import { BackwardBits, bitsAt, expect } from "./bits.ts";

/** Maximum bits of a Huffman code. */
const MAX_CODE_BITS = 11;
const MAX_WEIGHT_LOG = 6;

/**
 * Decoding table of finite state entropy: each state gives a symbol, and how the next state is read.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8878#section-4.1
 */
export class FseTable {
  /** log2 of the number of states. */
  log = 0;
  readonly symbols: Uint8Array;
  /** Bits to read for the next state, which is their value plus `bases`. */
  readonly bits: Uint8Array;
  readonly bases: Uint16Array;
  readonly #counts = new Int16Array(256);
  readonly #next = new Uint16Array(256);

  constructor(maxLog: number) {
    this.symbols = new Uint8Array(1 << maxLog);
    this.bits = new Uint8Array(1 << maxLog);
    this.bases = new Uint16Array(1 << maxLog);
  }

  /** One state, which always gives the same symbol. */
  setOnly(symbol: number): void {
    this.log = 0;
    this.symbols[0] = symbol;
    this.bits[0] = 0;
    this.bases[0] = 0;
  }

  /** Reads a table. @param mostSymbol maximum symbol @returns position after its description */
  read(bytes: Uint8Array, start: number, mostSymbol: number): number {
    const log = bitsAt(bytes, start * 8, 4) + 5;
    expect(1 << log <= this.symbols.length);
    const counts = this.#counts;
    let position = start * 8 + 4;
    let left = 1 << log;
    let symbol = 0;
    while (left > 0 && symbol <= mostSymbol) {
      // values up to `left + 1` in as few bits as possible: small ones have a bit less
      const width = 32 - Math.clz32(left + 1);
      const short = (1 << width) - 2 - left;
      let value = bitsAt(bytes, position, width - 1);
      position += width - 1;
      if (value >= short) {
        const whole = value | (bitsAt(bytes, position, 1) << (width - 1));
        position += 1;
        value = whole < 1 << (width - 1) ? whole : whole - short;
      }
      const count = value - 1;
      counts[symbol++] = count;
      left -= Math.abs(count);
      for (let repeats = 3; count === 0 && repeats === 3; ) {
        repeats = bitsAt(bytes, position, 2);
        position += 2;
        expect(symbol + repeats <= mostSymbol + 1);
        counts.fill(0, symbol, symbol + repeats);
        symbol += repeats;
      }
    }
    const end = (position + 7) >> 3;
    expect(left === 0 && end <= bytes.length);
    this.build(log, counts.subarray(0, symbol));
    return end;
  }

  /** @param counts states of each symbol, -1 for "less than one" */
  build(log: number, counts: ArrayLike<number>): void {
    const size = 1 << log;
    const next = this.#next;
    let high = size - 1;
    for (let symbol = 0; symbol < counts.length; symbol++) {
      const count = counts[symbol] ?? 0;
      next[symbol] = Math.abs(count);
      if (count === -1) this.symbols[high--] = symbol;
    }
    const step = (size >> 1) + (size >> 3) + 3;
    let at = 0;
    for (let symbol = 0; symbol < counts.length; symbol++) {
      for (let times = counts[symbol] ?? 0; times > 0; times--) {
        this.symbols[at] = symbol;
        do at = (at + step) & (size - 1);
        while (at > high);
      }
    }
    expect(at === 0);
    this.log = log;
    for (let state = 0; state < size; state++) {
      const symbol = this.symbols[state] ?? 0;
      const following = next[symbol] ?? 0;
      next[symbol] = following + 1;
      const bits = log - (31 - Math.clz32(following));
      this.bits[state] = bits;
      this.bases[state] = (following << bits) - size;
    }
  }
}

/** Decoding table of Huffman codes. @see https://www.rfc-editor.org/rfc/rfc8878#section-4.2 */
export class HuffmanTable {
  #log = 0;
  readonly #symbols = new Uint8Array(1 << MAX_CODE_BITS);
  readonly #bits = new Uint8Array(1 << MAX_CODE_BITS);
  readonly #weights = new Uint8Array(256);
  readonly #weightTable = new FseTable(MAX_WEIGHT_LOG);

  get isRead(): boolean {
    return this.#log > 0;
  }

  forget(): void {
    this.#log = 0;
  }

  /** @returns position after the description */
  read(bytes: Uint8Array, start: number): number {
    const header = bytes[start] ?? 0;
    const isDirect = header >= 128;
    const end = start + 1 + (isDirect ? (header - 126) >> 1 : header);
    expect(end <= bytes.length);
    const count = isDirect
      ? this.#readNibbles(bytes, start + 1, header - 127)
      : this.#readWeights(bytes.subarray(start + 1, end));
    this.#build(count);
    return end;
  }

  #readNibbles(bytes: Uint8Array, start: number, count: number): number {
    for (let i = 0; i < count; i++) {
      const byte = bytes[start + (i >> 1)] ?? 0;
      this.#weights[i] = (i & 1) === 0 ? byte >> 4 : byte & 15;
    }
    return count;
  }

  /** Two states in turn give the weights, until the stream ends. */
  #readWeights(bytes: Uint8Array): number {
    const { symbols, bits, bases } = this.#weightTable;
    const stream = new BackwardBits(bytes.subarray(this.#weightTable.read(bytes, 0, 255)));
    const { log } = this.#weightTable;
    let count = 0;
    let state = stream.read(log);
    let other = stream.read(log);
    expect(stream.left >= 0);
    for (;;) {
      expect(count < 254);
      this.#weights[count++] = symbols[state] ?? 0;
      const next = (bases[state] ?? 0) + stream.read(bits[state] ?? 0);
      if (stream.left < 0) {
        this.#weights[count++] = symbols[other] ?? 0;
        return count;
      }
      state = other;
      other = next;
    }
  }

  /** The last symbol's weight is not written: it completes a power of two. */
  #build(count: number): void {
    const weights = this.#weights;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const weight = weights[i] ?? 0;
      expect(weight <= MAX_CODE_BITS);
      if (weight > 0) sum += 1 << (weight - 1);
    }
    expect(sum > 0);
    const log = 32 - Math.clz32(sum);
    const rest = (1 << log) - sum;
    expect(log <= MAX_CODE_BITS && (rest & (rest - 1)) === 0);
    weights[count] = 32 - Math.clz32(rest);
    let at = 0;
    for (let weight = 1; weight <= log; weight++) {
      for (let symbol = 0; symbol <= count; symbol++) {
        if (weights[symbol] !== weight) continue;
        const end = at + (1 << (weight - 1));
        this.#symbols.fill(symbol, at, end);
        this.#bits.fill(log + 1 - weight, at, end);
        at = end;
      }
    }
    this.#log = log;
  }

  /** Decodes one stream into `target`, which it must fill exactly. */
  decode(bytes: Uint8Array, target: Uint8Array): void {
    const stream = new BackwardBits(bytes);
    for (let at = 0; at < target.length; at++) {
      const code = stream.peek(this.#log);
      target[at] = this.#symbols[code] ?? 0;
      stream.left -= this.#bits[code] ?? 0;
      expect(stream.left >= 0);
    }
    expect(stream.left === 0);
  }
}
