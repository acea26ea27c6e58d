import { isRecord } from "../../records.ts";
import { ELEMENT_BYTES, isTensorType, type TensorType } from "./tensor-type.ts";

/** Bytes of the header's length field, little endian. */
export const PREFIX_BYTES = 8;
/** Maximum header size of the format (safetensors 0.4, `MAX_HEADER_SIZE`). */
const MAX_HEADER_BYTES = 100_000_000;

/** Position of a tensor in its file; little endian, row-major. */
export interface TensorPlace {
  readonly type: TensorType;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/**
 * The end of the header, where the tensors begin, or its fault. Faults in this file are the end of a sentence that
 * begins with the file's name.
 *
 * @param prefix    the file's first 8 bytes, or fewer if it is shorter
 * @param fileBytes length of the whole file
 * @see https://github.com/huggingface/safetensors#format
 */
export function headerEnd(prefix: Uint8Array, fileBytes: number): number | string {
  if (fileBytes < PREFIX_BYTES) return `is truncated: it has ${fileBytes} bytes`;
  const length = new DataView(prefix.buffer, prefix.byteOffset).getBigUint64(0, true);
  if (length > MAX_HEADER_BYTES) return `has a header of ${length} bytes, more than the format allows`;
  const end = PREFIX_BYTES + Number(length);
  return end > fileBytes ? `is truncated in its header: it has ${fileBytes} of at least ${end} bytes` : end;
}

/** The tensors' entries by name, or the header's fault. @param bytes the header without its length */
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
 * Position of a tensor, or the fault of its header entry. Does not check that its bytes are within the file.
 *
 * @param dataBegin where the tensors begin: the header's end
 */
export function placeOf(name: string, entry: unknown, dataBegin: number): TensorPlace | string {
  if (!isRecord(entry)) return `describes the tensor ${name} by a value that is not an object`;
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== "string" || !isSizes(shape) || !isSizes(offsets) || offsets.length !== 2)
    return `describes the tensor ${name} without a valid dtype, shape and data_offsets`;
  if (!isTensorType(dtype)) return `has the tensor ${name} as ${dtype}, expected F16, BF16, F32 or I8`;
  const [begin = 0, end = 0] = offsets;
  const wanted = shape.reduce((product, size) => product * size, ELEMENT_BYTES[dtype]);
  if (end - begin !== wanted)
    return `has ${end - begin} bytes for the tensor ${name} of shape [${shape}] in ${dtype}, expected ${wanted}`;
  return { type: dtype, shape, begin: dataBegin + begin, end: dataBegin + end };
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}
