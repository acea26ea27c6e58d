import { ServiceError } from "../../errors.ts";
import { isRecord } from "../../records.ts";

/** A supported number type. */
export type TensorType = "F16" | "BF16" | "F32" | "I8";
/** A type of floating point numbers. */
export type FloatType = Exclude<TensorType, "I8">;

/** Bytes per element. */
export const ELEMENT_BYTES: Readonly<Record<TensorType, number>> = { F16: 2, BF16: 2, F32: 4, I8: 1 };
/** Bytes of the header's length field, little endian. */
const PREFIX_BYTES = 8;
/** Maximum header size of the format (safetensors 0.4, `MAX_HEADER_SIZE`). */
const MAX_HEADER_BYTES = 100_000_000;

/** Position of a tensor in its file; little endian, row-major. */
export interface TensorPlace {
  readonly type: TensorType;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** Bytes that can be read at any position: a file, or its content in memory. */
export interface ByteSource {
  /** File name, for messages. */
  readonly name: string;
  readonly byteLength: number;
  /** The bytes `begin` .. `end` - 1. */
  read(begin: number, end: number): Uint8Array;
}

export function bytesSource(file: Uint8Array, name: string): ByteSource {
  return { name, byteLength: file.byteLength, read: (begin, end) => file.subarray(begin, end) };
}

/**
 * Reads the position of each tensor from the header of a safetensors file. The file consists of the header's length in
 * 8 bytes, a JSON header, and the tensors' bytes.
 *
 * @throws ServiceError INVALID_MODEL if lengths, offsets, shapes and types are inconsistent
 * @see https://github.com/huggingface/safetensors#format
 */
export function locateTensors(source: ByteSource): ReadonlyMap<string, TensorPlace> {
  const { name: file, byteLength } = source;
  const invalid = faultOf(file);
  if (byteLength < PREFIX_BYTES) throw invalid(`is truncated: it has ${byteLength} bytes`);
  const prefix = source.read(0, PREFIX_BYTES);
  const length = new DataView(prefix.buffer, prefix.byteOffset).getBigUint64(0, true);
  if (length > MAX_HEADER_BYTES)
    throw invalid(`has a header of ${length} bytes, more than the format allows`);
  const dataBegin = PREFIX_BYTES + Number(length);
  if (dataBegin > byteLength)
    throw invalid(`is truncated in its header: it has ${byteLength} of at least ${dataBegin} bytes`);
  const places = new Map<string, TensorPlace>();
  let end = dataBegin;
  for (const [name, entry] of Object.entries(parseHeader(source.read(PREFIX_BYTES, dataBegin), file))) {
    if (name === "__metadata__") continue;
    const place = placeOf(name, entry, dataBegin, file);
    if (place.end > byteLength) throw invalid(`has a tensor ${name} beyond its end`);
    end = Math.max(end, place.end);
    places.set(name, place);
  }
  if (end < byteLength) throw invalid(`has ${byteLength - end} extra bytes at its end`);
  return places;
}

function parseHeader(bytes: Uint8Array, file: string): Readonly<Record<string, unknown>> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw faultOf(file)("has a header that is not JSON");
  }
  if (!isRecord(header)) throw faultOf(file)("has a header that is not a JSON object");
  return header;
}

function placeOf(name: string, entry: unknown, dataBegin: number, file: string): TensorPlace {
  const invalid = faultOf(file);
  if (!isRecord(entry)) throw invalid(`describes the tensor ${name} by a value that is not an object`);
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== "string" || !isSizes(shape) || !isSizes(offsets) || offsets.length !== 2)
    throw invalid(`describes the tensor ${name} without a valid dtype, shape and data_offsets`);
  if (!isTensorType(dtype))
    throw invalid(`has the tensor ${name} as ${dtype}, expected F16, BF16, F32 or I8`);
  const [begin = 0, end = 0] = offsets;
  const wanted = shape.reduce((product, size) => product * size, ELEMENT_BYTES[dtype]);
  if (end - begin !== wanted)
    throw invalid(
      `has ${end - begin} bytes for the tensor ${name} of shape [${shape}] in ${dtype}, expected ${wanted}`,
    );
  return { type: dtype, shape, begin: dataBegin + begin, end: dataBegin + end };
}

const isTensorType = (type: string): type is TensorType => Object.hasOwn(ELEMENT_BYTES, type);

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

/** @returns a function that makes an error from the end of a sentence that begins with the file's name */
export function faultOf(file: string): (what: string, cause?: unknown) => ServiceError {
  return (what, cause) => new ServiceError("INVALID_MODEL", `${file} ${what}.`, { cause });
}
