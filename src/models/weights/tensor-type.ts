/** A type of numbers that we read. */
export type TensorType = "F16" | "BF16" | "F32";

/** Bytes of an element. */
export const ELEMENT_BYTES: Readonly<Record<TensorType, number>> = { F16: 2, BF16: 2, F32: 4 };

/** Exponent bits, all set in infinities and NaNs: of each 16-bit number, or of the upper half of each float32. */
const EXPONENT: Readonly<Record<TensorType, number>> = { F16: 0x7c00, BF16: 0x7f80, F32: 0x7f80 };

export const isTensorType = (type: string): type is TensorType => Object.hasOwn(ELEMENT_BYTES, type);

/** Whether no number is a NaN or infinite. @param halves whole elements, little endian, in pieces of 16 bits */
export function allFinite(halves: Uint16Array, type: TensorType): boolean {
  const exponent = EXPONENT[type];
  const step = ELEMENT_BYTES[type] / 2;
  // an indexed loop: an iterator over these 20 million numbers took about 0.3 s of a start (profiled)
  for (let i = step - 1; i < halves.length; i += step) {
    if (((halves[i] ?? 0) & exponent) === exponent) return false;
  }
  return true;
}
