import { type FileHandle, open } from "node:fs/promises";
import {
  headerEnd,
  PREFIX_BYTES,
  parseHeader,
  placeOf,
  type TensorPlace,
} from "../weights/safetensors-header.ts";
import { allFinite } from "../weights/tensor-type.ts";

/** Bytes read at once; a multiple of every element size. */
const PIECE_BYTES = 2 ** 22;
/** Maximum number of reported faults. A broken header can cause any number. */
const MOST_FAULTS = 20;

type NamedPlace = TensorPlace & { readonly name: string };

/**
 * All faults of a safetensors file that do not depend on the model, each as the end of a sentence that begins with the
 * file's name. Reads in pieces, so a file may be larger than memory.
 */
export async function safetensorsFaults(file: string): Promise<readonly string[]> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const dataBegin = headerEnd(await readBytes(handle, 0, Math.min(PREFIX_BYTES, size)), size);
    if (typeof dataBegin === "string") return [dataBegin];
    const entries = parseHeader(await readBytes(handle, PREFIX_BYTES, dataBegin));
    if (typeof entries === "string") return [entries];
    const { places, faults } = locate(entries, dataBegin);
    const cover = coverOf(places, dataBegin, size);
    faults.push(...cover.faults);
    for (const place of cover.apart) {
      if (place.end <= size && !(await hasFiniteNumbers(handle, place)))
        faults.push(`has a number in the tensor ${place.name} that is not finite`);
    }
    return few(faults);
  } finally {
    await handle.close();
  }
}

/** The bytes `begin` .. `end` - 1. */
async function readBytes(handle: FileHandle, begin: number, end: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(end - begin);
  await handle.read(bytes, 0, bytes.length, begin);
  return bytes;
}

function locate(entries: ReadonlyMap<string, unknown>, dataBegin: number) {
  const places: NamedPlace[] = [];
  const faults: string[] = [];
  for (const [name, entry] of entries) {
    const place = placeOf(name, entry, dataBegin);
    if (typeof place === "string") faults.push(place);
    else places.push({ name, ...place });
  }
  return { places, faults };
}

/**
 * The format has no gaps: tensors follow each other from the header to the end of the file.
 *
 * @returns the faults, and the tensors that do not overlap earlier ones, so that no byte is read twice
 */
function coverOf(places: readonly NamedPlace[], dataBegin: number, fileEnd: number) {
  const faults: string[] = [];
  const apart: NamedPlace[] = [];
  let covered = dataBegin;
  for (const place of places.toSorted((a, b) => a.begin - b.begin || a.end - b.end)) {
    const { name, begin, end } = place;
    if (begin < covered) faults.push(`has a tensor ${name} that overlaps another tensor`);
    else apart.push(place);
    if (begin > covered) faults.push(`has ${begin - covered} unused bytes before the tensor ${name}`);
    covered = Math.max(covered, end);
  }
  if (covered > fileEnd) faults.push(`is truncated: ${covered - fileEnd} bytes are missing at its end`);
  if (covered < fileEnd) faults.push(`has ${fileEnd - covered} extra bytes at its end`);
  return { faults, apart };
}

async function hasFiniteNumbers(handle: FileHandle, { type, begin, end }: TensorPlace): Promise<boolean> {
  if (type === "I8") return true;
  const piece = new Uint16Array(Math.min(PIECE_BYTES, end - begin) / 2);
  for (let at = begin; at < end; at += piece.byteLength) {
    const { bytesRead } = await handle.read(piece, 0, Math.min(piece.byteLength, end - at), at);
    if (!allFinite(piece.subarray(0, bytesRead / 2), type)) return false;
  }
  return true;
}

function few(faults: readonly string[]): readonly string[] {
  if (faults.length <= MOST_FAULTS) return faults;
  return [...faults.slice(0, MOST_FAULTS), `has ${faults.length - MOST_FAULTS} more faults of this kind`];
}
