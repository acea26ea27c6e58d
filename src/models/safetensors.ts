import { ServiceError } from "../errors.ts";

/** Bytes of an element, for the types that we read. */
const ELEMENT_BYTES = { F16: 2, BF16: 2, F32: 4 } as const;
/** The format's own bound on its header (safetensors 0.4, `MAX_HEADER_SIZE`). */
const MAX_HEADER_BYTES = 100_000_000;

/** Bytes that can be read by their place, a file or what was read of one. */
export interface ByteSource {
  /** For messages. */
  readonly name: string;
  readonly byteLength: number;
  /** The bytes `begin` .. `end` - 1. */
  read(begin: number, end: number): Uint8Array;
}

export type TensorType = "F16" | "BF16" | "F32";

/** Where a tensor lies: little endian, row by row. */
export interface TensorPlace {
  readonly type: TensorType;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

export interface Tensor {
  readonly type: TensorType;
  readonly shape: readonly number[];
  /** Little endian, row by row; a view into the file's bytes. */
  readonly bytes: Uint8Array;
}

/**
 * Reads a safetensors file: 8 bytes length, a JSON header, the tensors' bytes.
 *
 * @throws ServiceError INVALID_MODEL when lengths, offsets, shapes and types do not fit together
 * @see https://github.com/huggingface/safetensors#format
 */
export function readSafetensors(file: Uint8Array, name = "model.safetensors"): ReadonlyMap<string, Tensor> {
  const source = bytesSource(file, name);
  const places = [...locateTensors(source)];
  return new Map(
    places.map(([tensor, { type, shape, begin, end }]) => [
      tensor,
      { type, shape, bytes: source.read(begin, end) },
    ]),
  );
}

export function bytesSource(file: Uint8Array, name: string): ByteSource {
  return { name, byteLength: file.byteLength, read: (begin, end) => file.subarray(begin, end) };
}

/** Reads the header only: where each tensor lies. @throws ServiceError INVALID_MODEL as `readSafetensors` */
export function locateTensors(source: ByteSource): ReadonlyMap<string, TensorPlace> {
  const invalid = faultOf(source.name);
  if (source.byteLength < 8) throw invalid("is shorter than 8 bytes");
  const prefix = source.read(0, 8);
  const length = new DataView(prefix.buffer, prefix.byteOffset).getBigUint64(0, true);
  if (length > MAX_HEADER_BYTES || Number(length) + 8 > source.byteLength)
    throw invalid("is cut off in its header");
  const dataBegin = 8 + Number(length);
  const header = parseHeader(source.read(8, dataBegin), invalid);
  const places = new Map<string, TensorPlace>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    places.set(name, placeOf(name, entry, { dataBegin, fileEnd: source.byteLength }, invalid));
  }
  return places;
}

type Fault = (what: string, cause?: unknown) => ServiceError;

function parseHeader(bytes: Uint8Array, invalid: Fault): Record<string, unknown> {
  try {
    const header: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (isRecord(header)) return header;
  } catch (cause) {
    throw invalid("has a header that is not JSON", cause);
  }
  throw invalid("has a header that is not a JSON object");
}

function placeOf(
  name: string,
  entry: unknown,
  { dataBegin, fileEnd }: { readonly dataBegin: number; readonly fileEnd: number },
  invalid: Fault,
): TensorPlace {
  if (!isRecord(entry)) throw invalid(`describes tensor ${name} with something other than an object`);
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== "string" || !isSizes(shape) || !isSizes(offsets)) {
    throw invalid(`describes tensor ${name} without dtype, shape and data_offsets`);
  }
  if (!isTensorType(dtype)) throw invalid(`holds tensor ${name} as ${dtype}; F16, BF16 and F32 are read`);
  const [begin = -1, end = -1] = offsets;
  const wanted = shape.reduce((product, size) => product * size, 1) * ELEMENT_BYTES[dtype];
  if (offsets.length !== 2 || begin < 0 || end > fileEnd - dataBegin || end - begin !== wanted) {
    throw invalid(`gives tensor ${name} of shape [${shape}] a place of another size, or one past its end`);
  }
  return { type: dtype, shape, begin: dataBegin + begin, end: dataBegin + end };
}

const isTensorType = (type: string): type is TensorType => Object.hasOwn(ELEMENT_BYTES, type);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

/** @returns what makes an error of the end of a sentence that begins with the file's name */
export function faultOf(file: string): Fault {
  return (what, cause) => new ServiceError("INVALID_MODEL", `${file} ${what}.`, { cause });
}
