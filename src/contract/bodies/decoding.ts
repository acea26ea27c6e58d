import { createGunzip } from "node:zlib";
import { runSliced, type SliceOptions, throwIfEnded } from "../../json/slices.ts";
import type { ContentCoding } from "./body.ts";
import { type CodingLimits, DecodedBytes, damaged } from "./coding-limits.ts";

/** Bytes that one call of zlib inflates. */
const CHUNK_BYTES = 64 * 1024;
/** What a decoder holds besides the decoded bytes: the buffers and tables of one chunk or block. */
export const WORKING_BYTES = 256 * 1024;

/**
 * Decodes the content coding of a body. Stops when the size limit is exceeded, and yields to the event loop during long
 * work.
 *
 * @param bytes the complete encoded body
 * @throws ServiceError INVALID_REQUEST (media_type: the bytes are not in the coding) | BODY_TOO_LARGE | what
 *         `limits.grow` throws | the reason of the signal
 */
export async function decodeBody(
  bytes: Uint8Array,
  coding: ContentCoding,
  limits: CodingLimits,
  options: SliceOptions,
): Promise<Uint8Array> {
  limits.grow(WORKING_BYTES);
  if (coding === "gzip") return decodeGzip(bytes, limits, options);
  // imported on demand: most services never need it
  const { zstdSteps } = await import("./zstd/decode.ts");
  return runSliced(zstdSteps(bytes, limits), options);
}

/** zlib works beside the event loop, one chunk at a time. */
async function decodeGzip(
  bytes: Uint8Array,
  limits: CodingLimits,
  { signal }: SliceOptions,
): Promise<Uint8Array> {
  const decoded = new DecodedBytes(limits);
  const inflated = createGunzip({ chunkSize: CHUNK_BYTES });
  inflated.end(bytes);
  try {
    for await (const chunk of inflated) {
      throwIfEnded(signal);
      decoded.add(chunk);
    }
  } catch (error) {
    throw inflated.errored === error ? damaged("gzip") : error;
  }
  return decoded.whole();
}
