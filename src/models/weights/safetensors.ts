import { ServiceError } from "../../errors.ts";
import { headerEnd, PREFIX_BYTES, parseHeader, placeOf, type TensorPlace } from "./safetensors-header.ts";
import type { TensorType } from "./tensor-type.ts";

/** Bytes that can be read at any position: a file, or its content in memory. */
export interface ByteSource {
  /** For messages. */
  readonly name: string;
  readonly byteLength: number;
  /** The bytes `begin` .. `end` - 1. */
  read(begin: number, end: number): Uint8Array;
}

export interface Tensor {
  readonly type: TensorType;
  readonly shape: readonly number[];
  /** Little endian, row-major; a view into the file's bytes. */
  readonly bytes: Uint8Array;
}

/**
 * Reads a safetensors file: 8 bytes length, a JSON header, the tensors' bytes.
 *
 * @throws ServiceError INVALID_MODEL if lengths, offsets, shapes and types are inconsistent
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

/** Reads only the header: the position of each tensor. @throws ServiceError INVALID_MODEL as `readSafetensors` */
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
