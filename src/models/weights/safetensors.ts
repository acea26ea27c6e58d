import { ServiceError } from "../../errors.ts";
import { headerEnd, PREFIX_BYTES, parseHeader, placeOf, type TensorPlace } from "./safetensors-header.ts";

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
  const invalid = faultOf(source.name);
  const sound = <Read>(read: Read | string): Read => {
    if (typeof read === "string") throw invalid(read);
    return read;
  };
  const prefix = source.read(0, Math.min(PREFIX_BYTES, source.byteLength));
  const dataBegin = sound(headerEnd(prefix, source.byteLength));
  const places = new Map<string, TensorPlace>();
  for (const [name, entry] of sound(parseHeader(source.read(PREFIX_BYTES, dataBegin)))) {
    const place = sound(placeOf(name, entry, dataBegin));
    if (place.end > source.byteLength) throw invalid(`has a tensor ${name} beyond its end`);
    places.set(name, place);
  }
  return places;
}

/** @returns a function that makes an error from the end of a sentence that begins with the file's name */
export function faultOf(file: string): (what: string, cause?: unknown) => ServiceError {
  return (what, cause) => new ServiceError("INVALID_MODEL", `${file} ${what}.`, { cause });
}
