import { ELEMENT_BYTES, isTensorType, type TensorType } from "./tensor-type.ts";

/** Bytes before the header: its length, little endian. */
export const PREFIX_BYTES = 8;
/** The format's own bound on its header (safetensors 0.4, `MAX_HEADER_SIZE`). */
const MAX_HEADER_BYTES = 100_000_000;

/** Where a tensor lies in its file: little endian, row by row. */
export interface TensorPlace {
  readonly type: TensorType;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/**
 * The end of the header, where the tensors begin, or what is wrong with it: the end of a sentence that begins with the file's name,
 * as everything that is told here.
 *
 * @param prefix    the file's first 8 bytes, if it has so many
 * @param fileBytes length of the whole file
 * @see https://github.com/huggingface/safetensors#format
 */
export function headerEnd(prefix: Uint8Array, fileBytes: number): number | string {
  if (fileBytes < PREFIX_BYTES) return `is cut off: it has ${fileBytes} bytes`;
  const length = new DataView(prefix.buffer, prefix.byteOffset).getBigUint64(0, true);
  if (length > MAX_HEADER_BYTES) return `announces a header of ${length} bytes, more than the format allows`;
  const end = PREFIX_BYTES + Number(length);
  return end > fileBytes ? `is cut off in its header: it has ${fileBytes} of at least ${end} bytes` : end;
}

/** The tensors' entries by name, or what is wrong with the header. @param bytes the header without its length */
export function parseHeader(bytes: Uint8Array): ReadonlyMap<string, unknown> | string {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return "has a header that is not JSON";
  }
  if (!isRecord(header)) return "has a header that is not a JSON object";
  return new Map(Object.entries(header).filter(([name]) => name !== "__metadata__"));
}

/**
 * Where a tensor lies, or what is wrong with its entry in the header. That its bytes are within the file is not looked at.
 *
 * @param dataBegin where the tensors begin: the header's end
 */
export function placeOf(name: string, entry: unknown, dataBegin: number): TensorPlace | string {
  if (!isRecord(entry)) return `describes the tensor ${name} with something other than an object`;
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== "string" || !isSizes(shape) || !isSizes(offsets) || offsets.length !== 2)
    return `describes the tensor ${name} without a usable dtype, shape and data_offsets`;
  if (!isTensorType(dtype)) return `holds the tensor ${name} as ${dtype}; F16, BF16 and F32 are read`;
  const [begin = 0, end = 0] = offsets;
  const wanted = shape.reduce((product, size) => product * size, ELEMENT_BYTES[dtype]);
  if (end - begin !== wanted)
    return `gives the tensor ${name} of shape [${shape}] in ${dtype} ${end - begin} bytes, expected ${wanted}`;
  return { type: dtype, shape, begin: dataBegin + begin, end: dataBegin + end };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}
