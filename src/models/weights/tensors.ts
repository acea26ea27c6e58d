import { bfloat16ToFloat32, float16ToFloat32 } from "../../onnx/file/float16.ts";
import { type Int8Rows, scaledRows } from "../../onnx/layers/int8-rows.ts";
import {
  type ByteSource,
  ELEMENT_BYTES,
  type FloatType,
  faultOf,
  locateTensors,
  type TensorPlace,
} from "./safetensors.ts";

/** Bytes in memory at once while a tensor is streamed. Chosen: small compared with a matrix. */
const PART_BYTES = 2 ** 22;

/** A tensor's numbers in pieces, in stored form. */
export interface StreamedTensor {
  readonly type: FloatType;
  readonly byteLength: number;
  readonly parts: Iterable<Uint8Array>;
}

/** The tensors of a safetensors file, each read and checked on demand. Every fault names the tensor. */
export class Tensors {
  readonly #source: ByteSource;
  readonly #places: ReadonlyMap<string, TensorPlace>;

  /** @throws ServiceError INVALID_MODEL for an invalid header */
  constructor(source: ByteSource) {
    this.#source = source;
    this.#places = locateTensors(source);
  }

  get places(): ReadonlyMap<string, TensorPlace> {
    return this.#places;
  }

  /** A tensor of this shape, converted to float32. @throws ServiceError INVALID_MODEL, also for NaN and infinities */
  float32(name: string, shape: readonly number[]): Float32Array {
    const rows = this.int8(name, shape);
    if (rows) return scaledRows(rows);
    const { type, begin, end } = this.#floatPlaceOf(name, shape);
    const halves = this.#halves(name, type, begin, end);
    if (type === "F16") return float16ToFloat32(halves);
    if (type === "BF16") return bfloat16ToFloat32(halves);
    return new Float32Array(halves.buffer);
  }

  /** The bits of a tensor stored as float16. @throws ServiceError INVALID_MODEL */
  float16(name: string, shape: readonly number[]): Uint16Array {
    const { type, begin, end } = this.#floatPlaceOf(name, shape);
    if (type !== "F16") throw this.#fault(`has ${name} as ${type}, expected F16`);
    return this.#halves(name, type, begin, end);
  }

  /**
   * A tensor stored as int8, whose scales are the tensor NAME_scale; undefined for other types.
   * @throws ServiceError INVALID_MODEL
   */
  int8(name: string, shape: readonly number[]): Int8Rows | undefined {
    const { type, begin, end } = this.#placeOf(name, shape);
    if (type !== "I8") return;
    const scales = this.float32(`${name}_scale`, shape.slice(0, 1));
    return { values: new Int8Array(this.#source.read(begin, end)), scales };
  }

  /** A streamed tensor. @throws ServiceError INVALID_MODEL, also while it is read */
  streamed(name: string, shape: readonly number[]): StreamedTensor {
    const { type, begin, end } = this.#floatPlaceOf(name, shape);
    const halves = (at: number) => this.#halves(name, type, at, Math.min(end, at + PART_BYTES));
    function* parts() {
      for (let at = begin; at < end; at += PART_BYTES) yield new Uint8Array(halves(at).buffer);
    }
    return { type, byteLength: end - begin, parts: parts() };
  }

  #placeOf(name: string, shape: readonly number[]): TensorPlace {
    const place = this.#places.get(name);
    if (!place) throw this.#fault(`lacks the tensor ${name}`);
    if (place.shape.join() === shape.join()) return place;
    throw this.#fault(`has ${name} in shape [${place.shape}], expected [${shape}]`);
  }

  #floatPlaceOf(name: string, shape: readonly number[]): TensorPlace & { readonly type: FloatType } {
    const { type, ...place } = this.#placeOf(name, shape);
    if (type === "I8") throw this.#fault(`has ${name} as I8, expected F16, BF16 or F32`);
    return { type, ...place };
  }

  #halves(name: string, type: FloatType, begin: number, end: number): Uint16Array {
    // a copy, because the bytes may be unaligned
    const halves = new Uint16Array(new Uint8Array(this.#source.read(begin, end)).buffer);
    if (!allFinite(halves, type)) throw this.#fault(`has a number in ${name} that is not finite`);
    return halves;
  }

  #fault(what: string): Error {
    return faultOf(this.#source.name)(what);
  }
}

/** Exponent bits, all set in infinities and NaNs: of each 16-bit number, or of the upper half of each float32. */
const EXPONENT: Readonly<Record<FloatType, number>> = { F16: 0x7c00, BF16: 0x7f80, F32: 0x7f80 };

/** Whether all numbers are finite. @param halves whole elements, little endian, as 16-bit words */
function allFinite(halves: Uint16Array, type: FloatType): boolean {
  const exponent = EXPONENT[type];
  const step = ELEMENT_BYTES[type] / 2;
  // an indexed loop, because iterating over these 20 million numbers with an iterator takes about 0.3 s (profiled)
  for (let i = step - 1; i < halves.length; i += step) {
    if (((halves[i] ?? 0) & exponent) === exponent) return false;
  }
  return true;
}
