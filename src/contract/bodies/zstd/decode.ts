import type { Steps } from "../../../json/slices.ts";
import { type CodingLimits, DecodedBytes, damaged, tooLong } from "../coding-limits.ts";
import { Damage, expect } from "./bits.ts";
import { BlockDecoder, MAX_BLOCK_BYTES } from "./block.ts";

/** Maximum window of a frame. @see https://www.rfc-editor.org/rfc/rfc9659#section-3 */
const MAX_WINDOW_BYTES = 8 * 2 ** 20;

const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const RAW = 0;
const RLE = 1;
const COMPRESSED = 2;

/**
 * Decodes zstd frames, up to the size limit. A step is a block, which has at most 128 KiB.
 *
 * Why our own: Node.js 20 has no zstd, and the decoder `fzstd` is not made for hostile data. 19 bytes occupy it for a
 * minute, since no bound applies to what a block copies, and it allocates the window of each frame. Here memory is
 * taken only for what has been decoded, and a block ends where it becomes too long. Checksums are not verified.
 *
 * @throws ServiceError INVALID_REQUEST (damaged) | BODY_TOO_LARGE | what `grow` throws
 * @see https://www.rfc-editor.org/rfc/rfc8878
 */
export function* zstdSteps(bytes: Uint8Array, limits: CodingLimits): Steps<Uint8Array> {
  const output = new DecodedBytes(limits);
  const blocks = new BlockDecoder(output);
  try {
    for (let at = 0; at < bytes.length; yield) at = yield* frameSteps(bytes, at, output, blocks, limits);
  } catch (error) {
    // RangeError: of a DataView, for a truncated header
    throw error instanceof Damage || error instanceof RangeError ? damaged("zstd") : error;
  }
  return output.whole();
}

/** @returns the end of the frame */
function* frameSteps(
  bytes: Uint8Array,
  start: number,
  output: DecodedBytes,
  blocks: BlockDecoder,
  { maxBytes }: CodingLimits,
): Steps<number> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const magic = view.getUint32(start, true);
  if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) {
    const end = start + 8 + view.getUint32(start + 4, true);
    expect(end <= bytes.length);
    return end;
  }
  expect(magic === FRAME_MAGIC);
  const { contentBytes, hasChecksum, end: begin } = readHeader(view, start, maxBytes);
  const before = output.length;
  blocks.beginFrame();
  for (let at = begin; ; yield) {
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    const type = (header >> 1) & 3;
    const size = header >> 3;
    const end = at + 3 + (type === RLE ? 1 : size);
    expect(size <= MAX_BLOCK_BYTES && end <= bytes.length);
    const content = bytes.subarray(at + 3, end);
    if (type === RAW) output.add(content);
    else if (type === RLE) repeat(content[0] ?? 0, size, output);
    else if (type === COMPRESSED) blocks.decode(content);
    else throw new Damage();
    if (contentBytes !== undefined) expect(output.length - before <= contentBytes);
    at = end;
    if ((header & 1) === 0) continue;
    if (contentBytes !== undefined) expect(output.length - before === contentBytes);
    const last = at + (hasChecksum ? 4 : 0);
    expect(last <= bytes.length);
    return last;
  }
}

function readHeader(view: DataView, start: number, maxBytes: number) {
  const flags = view.getUint8(start + 4);
  const isSingleSegment = (flags & 0x20) !== 0;
  const sizeFlag = flags >> 6;
  const idBytes = [0, 1, 2, 4][flags & 3] ?? 0;
  const sizeBytes = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 2 ** sizeFlag;
  const idAt = start + 5 + (isSingleSegment ? 0 : 1);
  const contentBytes = contentSize(view, idAt + idBytes, sizeBytes);
  expect((flags & 0x08) === 0);
  for (let at = idAt; at < idAt + idBytes; at++) expect(view.getUint8(at) === 0); // no dictionary
  if (contentBytes !== undefined && contentBytes > maxBytes) throw tooLong(maxBytes);
  if (!isSingleSegment && windowSize(view.getUint8(start + 5)) > MAX_WINDOW_BYTES) {
    throw damaged("zstd", `with a window of at most ${MAX_WINDOW_BYTES} bytes`);
  }
  return { contentBytes, hasChecksum: (flags & 4) !== 0, end: idAt + idBytes + sizeBytes };
}

function contentSize(view: DataView, at: number, bytes: number): number | undefined {
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
      return undefined;
  }
}

function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

function repeat(byte: number, count: number, output: DecodedBytes): void {
  output.makeRoom(count);
  output.bytes.fill(byte, output.length, output.length + count);
  output.length += count;
}
