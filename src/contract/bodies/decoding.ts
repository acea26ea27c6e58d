import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { runSliced } from "../../json/slices.ts";
import { type CodingLimits, damaged, tooLong } from "./coding-limits.ts";
import type { ContentCoding } from "./media-type.ts";

const gunzipAsync = promisify(gunzip);

/**
 * Decodes the content coding of a body. Stops when the size limit is exceeded, and yields to the event loop during long work.
 *
 * @param bytes the complete encoded body
 * @throws ServiceError INVALID_REQUEST (media_type: the bytes are not in the coding) | BODY_TOO_LARGE | CANCELLED | what
 *         `limits.grow` throws
 */
export async function decodeBody(
  bytes: Uint8Array,
  coding: ContentCoding,
  limits: CodingLimits,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (coding === "gzip") return decodeGzip(bytes, limits);
  // imported on demand: most services never need it
  const { zstdSteps } = await import("./zstd.ts");
  return runSliced(zstdSteps(bytes, limits), { signal });
}

async function decodeGzip(bytes: Uint8Array, { maxBytes, grow }: CodingLimits): Promise<Uint8Array> {
  const decoded = await gunzipAsync(bytes, { maxOutputLength: maxBytes }).catch((error: unknown) => {
    throw isTooLong(error) ? tooLong(maxBytes) : damaged("gzip");
  });
  grow(decoded.length);
  return decoded;
}

function isTooLong(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}
