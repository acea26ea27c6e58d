import { Decompress } from "fzstd";
import type { Steps } from "../../json/slices.ts";
import { type CodingLimits, damaged, tooLong } from "./coding-limits.ts";

/** Maximum window of a frame: the minimum that decoders must support. @see https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.1.2 */
const MAX_WINDOW_BYTES = 8 * 2 ** 20;
/** Compressed bytes decoded between two checks of the clock. Chosen. */
const BYTES_PER_STEP = 4_096;

const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const RLE_BLOCK = 1;

/**
 * Decodes zstd frames, up to the size limit.
 *
 * The decoder allocates the window that a frame declares, up to 2 GB, before it decodes anything. So the headers of all frames
 * are checked first.
 *
 * @throws ServiceError INVALID_REQUEST (damaged) | BODY_TOO_LARGE | what `grow` throws
 * @see https://www.rfc-editor.org/rfc/rfc8878
 */
export function* zstdSteps(bytes: Uint8Array, { maxBytes, grow }: CodingLimits): Steps<Uint8Array> {
  checkFrames(bytes, maxBytes);
  const chunks: Uint8Array[] = [];
  let length = 0;
  let refusal: unknown;
  const decoder = new Decompress((chunk) => {
    if (refusal !== undefined) return;
    length += chunk.length;
    try {
      if (length > maxBytes) throw tooLong(maxBytes);
      grow(chunk.length);
    } catch (error) {
      refusal = error;
      throw error; // ends the decoding
    }
    chunks.push(chunk.slice()); // a copy, because the decoder reuses its buffer
  });
  for (let at = 0; at < bytes.length; at += BYTES_PER_STEP) {
    const end = Math.min(at + BYTES_PER_STEP, bytes.length);
    try {
      decoder.push(bytes.subarray(at, end), end === bytes.length);
    } catch {
      throw refusal ?? damaged("zstd");
    }
    yield;
  }
  return Buffer.concat(chunks, length);
}

/** Checks the headers of all frames. @throws ServiceError INVALID_REQUEST (damaged) | BODY_TOO_LARGE */
function checkFrames(bytes: Uint8Array, maxBytes: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    for (let at = 0; at < bytes.length; ) at = endOfFrame(view, at, maxBytes);
  } catch (error) {
    throw error instanceof RangeError ? damaged("zstd") : error; // RangeError: truncated within a header
  }
}

/** @throws RangeError if the bytes end within the frame's headers */
function endOfFrame(view: DataView, start: number, maxBytes: number): number {
  const magic = view.getUint32(start, true);
  if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) return start + 8 + view.getUint32(start + 4, true);
  if (magic !== FRAME_MAGIC) throw damaged("zstd");
  const flags = view.getUint8(start + 4);
  const isSingleSegment = (flags & 0x20) !== 0;
  const sizeFlag = flags >> 6;
  const dictionaryBytes = [0, 1, 2, 4][flags & 3] ?? 0;
  const sizeBytes = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 2 ** sizeFlag;
  const sizeAt = start + 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes;
  const contentBytes = contentSize(view, sizeAt, sizeBytes);
  if (contentBytes > maxBytes) throw tooLong(maxBytes);
  if (!isSingleSegment && windowSize(view.getUint8(start + 5)) > MAX_WINDOW_BYTES) {
    throw damaged("zstd", `with a window of at most ${MAX_WINDOW_BYTES} bytes`);
  }
  const end = endOfBlocks(view, sizeAt + sizeBytes);
  return end + ((flags & 4) !== 0 ? 4 : 0); // a checksum
}

function contentSize(view: DataView, at: number, bytes: number): number {
  switch (bytes) {
    case 1:
      return view.getUint8(at);
    case 2:
      return view.getUint16(at, true) + 256;
    case 4:
      return view.getUint32(at, true);
    case 8:
      return Number(view.getBigUint64(at, true));
    default:
      return 0; // not declared
  }
}

function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

function endOfBlocks(view: DataView, start: number): number {
  for (let at = start; ; ) {
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    const isRle = ((header >> 1) & 3) === RLE_BLOCK;
    at += 3 + (isRle ? 1 : header >> 3);
    if ((header & 1) !== 0) return at;
  }
}
