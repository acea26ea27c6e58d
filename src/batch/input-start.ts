import { invalidOption } from "../errors.ts";
import { isUtf16, UTF16_FAULT } from "../utf8.ts";

/** The beginning of a stream of bytes, and the stream with it. */
export interface Begun {
  readonly head: Buffer;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Waits for the first `count` bytes of a stream, or for its end. */
export async function peek(chunks: AsyncIterable<Uint8Array>, count: number): Promise<Begun> {
  const rest = chunks[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < count) {
    const next = await rest.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return { head, chunks: joined(head, rest) };
}

async function* joined(head: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  yield* { [Symbol.asyncIterator]: () => rest };
}

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** A file of rows without its byte order mark. */
export interface RowBytes {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly hasMark: boolean;
  readonly isEmpty: boolean;
}

/** @throws ServiceError INVALID_OPTION for a file in UTF-16 */
export async function openRowBytes(given: AsyncIterable<Uint8Array>): Promise<RowBytes> {
  const { head, chunks } = await peek(given, BYTE_ORDER_MARK.length);
  if (isUtf16(head)) throw invalidOption(`--input ${UTF16_FAULT}.`);
  const hasMark = head.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return { chunks: hasMark ? withoutMark(chunks) : chunks, hasMark, isEmpty: head.length === 0 };
}

async function* withoutMark(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of chunks) {
    yield isFirst ? chunk.subarray(BYTE_ORDER_MARK.length) : chunk; // `peek` has put it into one chunk
    isFirst = false;
  }
}
