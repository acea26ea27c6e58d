/** The bits of float32 numbers: `===` would hold 0 and -0 for one, and no NaN for itself. */
export function bitsOf(numbers: Float32Array): number[] {
  return [...new Int32Array(numbers.buffer, numbers.byteOffset, numbers.length)];
}
