/** Data that are not in the coding. Becomes an error for the caller in `decode.ts`. */
export class Damage extends Error {}

/** Throws unless the condition of the format holds. */
export function expect(condition: boolean): asserts condition {
  if (!condition) throw new Damage();
}

/** So many bits from a position counted in bits, at most 25. Bytes outside of the array count as 0. */
export function bitsAt(bytes: Uint8Array, position: number, count: number): number {
  const at = position >> 3;
  const word =
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24);
  return (word >>> (position & 7)) & ((1 << count) - 1);
}

/** A bit stream that is read from its end to its begin. The highest set bit of its last byte marks the end. */
export class BackwardBits {
  readonly #bytes: Uint8Array;
  /** Bits that are left; below 0 after reading too many. */
  left: number;

  /** @param bytes exactly the stream */
  constructor(bytes: Uint8Array) {
    const last = bytes[bytes.length - 1] ?? 0;
    expect(last !== 0);
    this.#bytes = bytes;
    this.left = bytes.length * 8 - 1 - Math.clz32(last << 24);
  }

  read(count: number): number {
    this.left -= count;
    return this.peekAt(this.left, count);
  }

  /** The next bits without taking them. Those before the begin are 0. */
  peek(count: number): number {
    return this.peekAt(this.left - count, count);
  }

  private peekAt(position: number, count: number): number {
    if (position >= 0) return bitsAt(this.#bytes, position, count);
    const there = Math.max(count + position, 0);
    return bitsAt(this.#bytes, 0, there) << (count - there);
  }
}
