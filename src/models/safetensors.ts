import { ServiceError } from "../errors.ts";

/** Bytes of an element, for the types that we read. */
const ELEMENT_BYTES: Readonly<Record<string, number>> = { F16: 2, BF16: 2, F32: 4 };
/** The format's own bound on its header (safetensors 0.4, `MAX_HEADER_SIZE`). */
const MAX_HEADER_BYTES = 100_000_000;

export interface Tensor {
  readonly type: string;
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
export function readSafetensors(file: Uint8Array): ReadonlyMap<string, Tensor> {
  const { header, data } = splitFile(file);
  const tensors = new Map<string, Tensor>();
  for (const [name, entry] of Object.entries(header)) {
    if (name !== "__metadata__") tensors.set(name, readTensor(name, entry, data));
  }
  return tensors;
}

function splitFile(file: Uint8Array): { header: Record<string, unknown>; data: Uint8Array } {
  if (file.byteLength < 8) throw invalid("is shorter than 8 bytes");
  const length = new DataView(file.buffer, file.byteOffset).getBigUint64(0, true);
  if (length > MAX_HEADER_BYTES || Number(length) + 8 > file.byteLength)
    throw invalid("is cut off in its header");
  const end = 8 + Number(length);
  return { header: parseHeader(file.subarray(8, end)), data: file.subarray(end) };
}

function parseHeader(bytes: Uint8Array): Record<string, unknown> {
  try {
    const header: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (isRecord(header)) return header;
  } catch (cause) {
    throw invalid("has a header that is not JSON", cause);
  }
  throw invalid("has a header that is not a JSON object");
}

function readTensor(name: string, entry: unknown, data: Uint8Array): Tensor {
  if (!isRecord(entry)) throw invalid(`describes tensor ${name} with something other than an object`);
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== "string" || !isSizes(shape) || !isSizes(offsets)) {
    throw invalid(`describes tensor ${name} without dtype, shape and data_offsets`);
  }
  const [begin = -1, end = -1] = offsets;
  const elements = shape.reduce((product, size) => product * size, 1);
  const wanted = elements * (ELEMENT_BYTES[dtype] ?? Number.NaN);
  if (Number.isNaN(wanted)) throw invalid(`holds tensor ${name} as ${dtype}; F16, BF16 and F32 are read`);
  if (offsets.length !== 2 || begin < 0 || end > data.byteLength || end - begin !== wanted) {
    throw invalid(`gives tensor ${name} of shape [${shape}] a place of another size, or one past its end`);
  }
  return { type: dtype, shape, bytes: data.subarray(begin, end) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

function invalid(what: string, cause?: unknown): ServiceError {
  return new ServiceError("INVALID_MODEL", `model.safetensors ${what}.`, { cause });
}
