import { invalidRequest, ServiceError } from "../../errors.ts";
import type { ContentCoding } from "./body.ts";

export interface CodingLimits {
  /** Maximum bytes of a decoded body. */
  readonly maxBytes: number;
  /** Called with the number of bytes before they are allocated. @throws ServiceError if there is no memory for them */
  readonly grow: (bytes: number) => void;
}

/** Capacity of the first buffer. Chosen: most bodies are shorter. */
const FIRST_BYTES = 16_384;

/**
 * A decoded body in one buffer, which doubles as bytes are added. What is allocated has been reserved, declared sizes
 * are not.
 */
export class DecodedBytes {
  bytes = new Uint8Array(0);
  length = 0;
  readonly #limits: CodingLimits;

  constructor(limits: CodingLimits) {
    this.#limits = limits;
  }

  /** Makes room for so many more bytes in `bytes`. @throws ServiceError BODY_TOO_LARGE | what `grow` throws */
  makeRoom(count: number): void {
    const { maxBytes, grow } = this.#limits;
    const needed = this.length + count;
    if (needed > maxBytes) throw tooLong(maxBytes);
    const before = this.bytes.length;
    if (needed <= before) return;
    const capacity = Math.min(maxBytes, Math.max(needed, 2 * before, FIRST_BYTES));
    grow(capacity - before);
    const larger = new Uint8Array(capacity);
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  add(chunk: Uint8Array): void {
    this.makeRoom(chunk.length);
    this.bytes.set(chunk, this.length);
    this.length += chunk.length;
  }

  whole(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }
}

export function damaged(coding: ContentCoding, expectation = ""): ServiceError {
  const wanted = [`a body in the coding ${coding}`, expectation].filter((part) => part !== "").join(" ");
  const msg = `Expected ${wanted}, as declared in Content-Encoding, got another coding or damaged data.`;
  return invalidRequest([{ loc: ["body"], msg, type: "media_type" }]);
}

export function tooLong(maxBytes: number): ServiceError {
  return new ServiceError(
    "BODY_TOO_LARGE",
    `Expected a decoded body of at most ${maxBytes} bytes, got more.`,
  );
}
