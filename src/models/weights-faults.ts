import { type FileHandle, open } from "node:fs/promises";

/** Bits of an element's exponent, which are all set in infinities and NaNs, and its bytes. */
const TYPES: Readonly<Record<string, { readonly bytes: number; readonly exponent: number }>> = {
  F16: { bytes: 2, exponent: 0x7c00 },
  BF16: { bytes: 2, exponent: 0x7f80 },
  F32: { bytes: 4, exponent: 0x7f800000 },
};
const MAX_HEADER_BYTES = 100_000_000;
const PIECE_BYTES = 2 ** 22;
/** A broken header can make any number of them. */
const MOST_FAULTS = 20;

interface Place {
  readonly name: string;
  readonly type: string;
  readonly begin: number;
  readonly end: number;
}

/**
 * Everything that is wrong with a safetensors file whatever model it is for: each as the end of a sentence that begins with the file's
 * name. Reads piece by piece, so a file may be larger than the memory.
 *
 * @see https://github.com/huggingface/safetensors#format
 */
export async function safetensorsFaults(file: string): Promise<readonly string[]> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const header = await readHeader(handle, size);
    if (typeof header === "string") return [header];
    const faults: string[] = [];
    const places: Place[] = [];
    for (const [name, entry] of Object.entries(header.entries)) {
      const place = placeOf(name, entry);
      if (typeof place === "string") faults.push(place);
      else if (place) places.push(place);
    }
    faults.push(...coverFaults(places, size - header.end));
    for (const place of places) {
      if (header.end + place.end <= size && !(await hasFiniteNumbers(handle, header.end, place)))
        faults.push(`holds in the tensor ${place.name} a number that is not finite`);
    }
    return few(faults);
  } finally {
    await handle.close();
  }
}

async function readHeader(handle: FileHandle, size: number) {
  if (size < 8) return `is cut off: it has ${size} bytes`;
  const length = Buffer.alloc(8);
  await handle.read(length, 0, 8, 0);
  const bytes = length.readBigUInt64LE();
  if (bytes > MAX_HEADER_BYTES) return `announces a header of ${bytes} bytes, more than the format allows`;
  const end = 8 + Number(bytes);
  if (end > size) return `is cut off in its header: it has ${size} of at least ${end} bytes`;
  const text = Buffer.alloc(Number(bytes));
  await handle.read(text, 0, text.length, 8);
  try {
    const entries: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
    if (isRecord(entries)) return { entries, end };
  } catch {
    return "has a header that is not JSON";
  }
  return "has a header that is not a JSON object";
}

/** @returns a fault, or nothing for what is no tensor */
function placeOf(name: string, entry: unknown): Place | string | undefined {
  if (name === "__metadata__") return undefined;
  if (!isRecord(entry)) return `describes the tensor ${name} with something other than an object`;
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== "string" || !isSizes(shape) || !isSizes(offsets) || offsets.length !== 2)
    return `describes the tensor ${name} without a usable dtype, shape and data_offsets`;
  const type = TYPES[dtype];
  if (type === undefined) return `holds the tensor ${name} as ${dtype}; F16, BF16 and F32 are read`;
  const [begin = 0, end = 0] = offsets;
  const wanted = shape.reduce((product, length) => product * length, type.bytes);
  if (end - begin !== wanted)
    return `gives the tensor ${name} of shape [${shape}] in ${dtype} ${end - begin} bytes, expected ${wanted}`;
  return { name, type: dtype, begin, end };
}

/** The format leaves no holes: tensors lie one after the other up to the end. */
function coverFaults(places: readonly Place[], bytes: number): readonly string[] {
  const ordered = places.toSorted((a, b) => a.begin - b.begin || a.end - b.end);
  const faults = ordered.flatMap(({ name, begin }, at) => {
    const before = ordered[at - 1]?.end ?? 0;
    if (begin < before) return [`gives the tensor ${name} bytes that another one has too`];
    return begin > before
      ? [`has ${begin - before} bytes before the tensor ${name} that belong to none`]
      : [];
  });
  const end = ordered.at(-1)?.end ?? 0;
  if (end > bytes) faults.push(`is cut off: ${end - bytes} bytes are missing at its end`);
  if (end < bytes) faults.push(`has ${bytes - end} bytes too many at its end`);
  return faults;
}

async function hasFiniteNumbers(
  handle: FileHandle,
  origin: number,
  { type, begin, end }: Place,
): Promise<boolean> {
  const { bytes, exponent } = TYPES[type] ?? { bytes: 2, exponent: 0 };
  const piece = Buffer.alloc(Math.min(PIECE_BYTES, end - begin));
  for (let at = begin; at < end; at += piece.length) {
    const { bytesRead } = await handle.read(piece, 0, Math.min(piece.length, end - at), origin + at);
    const read = piece.buffer.slice(piece.byteOffset, piece.byteOffset + bytesRead);
    const bits = bytes === 2 ? new Uint16Array(read) : new Uint32Array(read);
    for (let i = 0; i < bits.length; i++) if (((bits[i] ?? 0) & exponent) === exponent) return false;
  }
  return true;
}

function few(faults: readonly string[]): readonly string[] {
  if (faults.length <= MOST_FAULTS) return faults;
  return [...faults.slice(0, MOST_FAULTS), `has ${faults.length - MOST_FAULTS} more faults of this kind`];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}
