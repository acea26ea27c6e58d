import type { DecodedBytes } from "../coding-limits.ts";
import { BackwardBits, expect } from "./bits.ts";
import { FseTable, HuffmanTable } from "./tables.ts";

export const MAX_BLOCK_BYTES = 128 * 1024;

/** One of the three codes of a sequence. */
interface Code {
  readonly maxLog: number;
  readonly mostSymbol: number;
  /** States of the predefined table. */
  readonly counts: readonly number[];
}

// https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.3.2.2
const LITERAL_LENGTHS: Code = {
  maxLog: 9,
  mostSymbol: 35,
  counts: [
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1,
    -1, -1,
  ],
};
/** The predefined table has 29 symbols. Codes above 24 would lead further back than the window. */
const OFFSETS: Code = {
  maxLog: 8,
  mostSymbol: 31,
  counts: [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
};
const MOST_OFFSET_CODE = 24;
const MATCH_LENGTHS: Code = {
  maxLog: 9,
  mostSymbol: 52,
  counts: [
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
  ],
};

const LITERAL_EXTRA = [...zeros(16), 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const LITERAL_BASES = basesOf(LITERAL_EXTRA, 0);
const MATCH_EXTRA = [...zeros(32), ...[1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]];
const MATCH_BASES = basesOf(MATCH_EXTRA, 3);

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0);
}

/** The smallest value of each code: each covers as many values as its extra bits can tell apart. */
function basesOf(extra: readonly number[], first: number): readonly number[] {
  let base = first;
  return extra.map((bits) => {
    const own = base;
    base += 1 << bits;
    return own;
  });
}

/** The table of a code, as the blocks of a frame set it. */
class CodeTable {
  readonly #code: Code;
  readonly #predefined: FseTable;
  readonly #own: FseTable;
  #current: FseTable | undefined;

  constructor(code: Code) {
    this.#code = code;
    this.#predefined = predefined(code);
    this.#own = new FseTable(code.maxLog);
  }

  forget(): void {
    this.#current = undefined;
  }

  get current(): FseTable {
    expect(this.#current !== undefined);
    return this.#current;
  }

  /** @returns position after the table's description */
  set(mode: number, bytes: Uint8Array, at: number): number {
    if (mode === 3) return at; // the table of the block before
    this.#current = mode === 0 ? this.#predefined : this.#own;
    if (mode === 0) return at;
    if (mode === 2) return this.#own.read(bytes, at, this.#code.mostSymbol);
    const symbol = bytes[at] ?? 255;
    expect(symbol <= this.#code.mostSymbol);
    this.#own.setOnly(symbol);
    return at + 1;
  }
}

function predefined({ maxLog, counts }: Code): FseTable {
  const table = new FseTable(maxLog);
  table.build(Math.log2(counts.reduce((sum, count) => sum + Math.abs(count), 0)), counts);
  return table;
}

/** Decodes the compressed blocks of a body's frames. @see https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.3 */
export class BlockDecoder {
  readonly #output: DecodedBytes;
  /** Where the frame begins in the output. Matches lead no further back. */
  #begin = 0;
  // what later blocks of a frame may use again
  readonly #huffman = new HuffmanTable();
  readonly #lengths = new CodeTable(LITERAL_LENGTHS);
  readonly #offsets = new CodeTable(OFFSETS);
  readonly #matches = new CodeTable(MATCH_LENGTHS);
  readonly #recent = [1, 4, 8];

  constructor(output: DecodedBytes) {
    this.#output = output;
  }

  beginFrame(): void {
    this.#begin = this.#output.length;
    this.#recent.splice(0, 3, 1, 4, 8);
    for (const table of [this.#huffman, this.#lengths, this.#offsets, this.#matches]) table.forget();
  }

  decode(bytes: Uint8Array): void {
    const { literals, end } = readLiterals(bytes, this.#huffman);
    const { count, end: modesAt } = sequenceCount(bytes, end);
    if (count === 0) {
      expect(modesAt === bytes.length);
      this.#output.add(literals);
      return;
    }
    const modes = bytes[modesAt] ?? 1;
    expect((modes & 3) === 0);
    let at = this.#lengths.set(modes >> 6, bytes, modesAt + 1);
    at = this.#offsets.set((modes >> 4) & 3, bytes, at);
    at = this.#matches.set((modes >> 2) & 3, bytes, at);
    expect(at < bytes.length);
    this.#runSequences(new BackwardBits(bytes.subarray(at)), count, literals);
  }

  /** Copies literals and earlier output in turn. */
  #runSequences(bits: BackwardBits, count: number, literals: Uint8Array): void {
    const output = this.#output;
    const lengths = this.#lengths.current;
    const offsets = this.#offsets.current;
    const matches = this.#matches.current;
    let lengthState = bits.read(lengths.log);
    let offsetState = bits.read(offsets.log);
    let matchState = bits.read(matches.log);
    let taken = 0;
    let room = MAX_BLOCK_BYTES - literals.length;
    for (let left = count; left > 0; left--) {
      const offsetCode = offsets.symbols[offsetState] ?? 0;
      const matchCode = matches.symbols[matchState] ?? 0;
      const lengthCode = lengths.symbols[lengthState] ?? 0;
      expect(offsetCode <= MOST_OFFSET_CODE);
      const offsetValue = (1 << offsetCode) + bits.read(offsetCode);
      const match = (MATCH_BASES[matchCode] ?? 0) + bits.read(MATCH_EXTRA[matchCode] ?? 0);
      const length = (LITERAL_BASES[lengthCode] ?? 0) + bits.read(LITERAL_EXTRA[lengthCode] ?? 0);
      room -= match;
      expect(bits.left >= 0 && room >= 0 && taken + length <= literals.length);
      output.makeRoom(length + match);
      output.bytes.set(literals.subarray(taken, taken + length), output.length);
      output.length += length;
      taken += length;
      this.#copyBack(this.#offset(offsetValue, length), match);
      if (left === 1) break;
      lengthState = (lengths.bases[lengthState] ?? 0) + bits.read(lengths.bits[lengthState] ?? 0);
      matchState = (matches.bases[matchState] ?? 0) + bits.read(matches.bits[matchState] ?? 0);
      offsetState = (offsets.bases[offsetState] ?? 0) + bits.read(offsets.bits[offsetState] ?? 0);
    }
    expect(bits.left === 0);
    output.add(literals.subarray(taken));
  }

  #copyBack(offset: number, count: number): void {
    const { bytes, length: start } = this.#output;
    expect(offset > 0 && offset <= start - this.#begin);
    // a match may overlap what it writes
    if (offset >= count) bytes.copyWithin(start, start - offset, start - offset + count);
    else for (let at = start; at < start + count; at++) bytes[at] = bytes[at - offset] ?? 0;
    this.#output.length += count;
  }

  /** The values 1 to 3 stand for recent offsets. */
  #offset(value: number, literals: number): number {
    const recent = this.#recent;
    const [first = 0, second = 0, third = 0] = recent;
    const place = value > 3 ? 4 : value - (literals === 0 ? 0 : 1);
    const offset = value > 3 ? value - 3 : ([first, second, third, first - 1][place] ?? 0);
    if (place === 0) return offset;
    if (place > 1) recent[2] = second;
    recent[1] = first;
    recent[0] = offset;
    return offset;
  }
}

function sequenceCount(bytes: Uint8Array, at: number): { readonly count: number; readonly end: number } {
  expect(at < bytes.length);
  const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
  if (first < 128) return { count: first, end: at + 1 };
  if (first < 255) return { count: ((first - 128) << 8) | second, end: at + 2 };
  return { count: (second | (third << 8)) + 0x7f00, end: at + 3 };
}

interface Literals {
  readonly literals: Uint8Array;
  readonly end: number;
}

function readLiterals(bytes: Uint8Array, huffman: HuffmanTable): Literals {
  const [b0 = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0] = bytes;
  const type = b0 & 3;
  const format = (b0 >> 2) & 3;
  if (type < 2) {
    const header = format === 1 ? 2 : format === 3 ? 3 : 1;
    const size = header === 1 ? b0 >> 3 : (b0 >> 4) | (b1 << 4) | (header === 3 ? b2 << 12 : 0);
    const end = header + (type === 0 ? size : 1);
    expect(size <= MAX_BLOCK_BYTES && end <= bytes.length);
    const literals = type === 0 ? bytes.subarray(header, end) : new Uint8Array(size).fill(bytes[header] ?? 0);
    return { literals, end };
  }
  const header = format < 2 ? 3 : format + 2;
  const [size, packed] =
    format < 2
      ? [(b0 >> 4) | ((b1 & 63) << 4), (b1 >> 6) | (b2 << 2)]
      : format === 2
        ? [(b0 >> 4) | (b1 << 4) | ((b2 & 3) << 12), (b2 >> 2) | (b3 << 6)]
        : [(b0 >> 4) | (b1 << 4) | ((b2 & 63) << 12), (b2 >> 6) | (b3 << 2) | (b4 << 10)];
  const end = header + packed;
  expect(size <= MAX_BLOCK_BYTES && end <= bytes.length);
  const content = bytes.subarray(0, end);
  const start = type === 2 ? huffman.read(content, header) : header;
  expect(huffman.isRead);
  const literals = new Uint8Array(size);
  const streams = content.subarray(start);
  if (format === 0) huffman.decode(streams, literals);
  else decodeFour(huffman, streams, literals);
  return { literals, end };
}

/** Four streams, of which the first three have their sizes in front. */
function decodeFour(huffman: HuffmanTable, streams: Uint8Array, literals: Uint8Array): void {
  const share = (literals.length + 3) >> 2;
  expect(streams.length > 6 && 3 * share <= literals.length);
  let at = 6;
  for (let stream = 0; stream < 4; stream++) {
    const size = (streams[2 * stream] ?? 0) | ((streams[2 * stream + 1] ?? 0) << 8);
    const end = stream === 3 ? streams.length : at + size;
    expect(end <= streams.length);
    const target = literals.subarray(stream * share, stream === 3 ? literals.length : (stream + 1) * share);
    huffman.decode(streams.subarray(at, end), target);
    at = end;
  }
}
