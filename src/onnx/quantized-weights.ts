/** Weights as int8 numbers with a scale for each output: about `values[k][n] * scales[n]`. */
export interface QuantizedWeights {
  readonly values: Int8Array; // [inputs, outputs]
  readonly scales: Float32Array; // [outputs]
}

/**
 * Largest magnitude of a weight.
 *
 * Processors without VNNI add the products of neighbouring inputs in 16 bits (VPMADDUBSW): 2 * 255 * 64 = 32,640
 * fits, with 127 the sums would saturate and be wrong without a word.
 */
const LARGEST_WEIGHT = 127;

/** Inputs that are mixed with one another before they are rounded; see `rotate`. */
const LONGEST_BLOCK = 32;

/** @returns the largest power of two, at most 32, that divides `size` */
export function rotationBlock(size: number): number {
  let block = 1;
  while (block < LONGEST_BLOCK && size % (block * 2) === 0) block *= 2;
  return block;
}

/** The orthonormal Hadamard matrix, its own inverse. @returns [size, size], `size` a power of two */
export function hadamard(size: number): Float32Array {
  const matrix = new Float32Array(size * size);
  for (let i = 0; i < size; i++) matrix[i * size + i] = 1;
  rotate(matrix, size);
  return matrix;
}

/**
 * Multiplies each run of `block` numbers by the Hadamard matrix, in place (a fast Walsh-Hadamard transform).
 *
 * Weights and activations are rotated alike, which leaves their product as it is. What is gained: an activation that stands
 * out is spread over its block, so that the row's scale, and with it the error of rounding, gets smaller.
 *
 * @see Ashkboos et al. 2024, QuaRot: Outlier-Free 4-Bit Inference in Rotated LLMs
 */
export function rotate(numbers: Float32Array, block: number): void {
  for (let half = 1; half < block; half *= 2) {
    for (let start = 0; start < numbers.length; start += 2 * half) {
      for (let i = start; i < start + half; i++) {
        const a = numbers[i] as number; // inside: the length is a multiple of the block
        const b = numbers[i + half] as number;
        numbers[i] = a + b;
        numbers[i + half] = a - b;
      }
    }
  }
  const norm = 1 / Math.sqrt(block);
  for (let i = 0; i < numbers.length; i++) numbers[i] = (numbers[i] as number) * norm;
}

/** @param weight [outputs, inputs] */
export function quantizeWeights(weight: Float32Array, outputs: number): QuantizedWeights {
  const inputs = weight.length / outputs;
  const values = new Int8Array(weight.length);
  const scales = new Float32Array(outputs).fill(1);
  for (let n = 0; n < outputs; n++) {
    const row = weight.subarray(n * inputs, (n + 1) * inputs);
    let largest = 0;
    for (let k = 0; k < inputs; k++) largest = Math.max(largest, Math.abs(row[k] as number));
    if (largest === 0) continue;
    scales[n] = largest / LARGEST_WEIGHT;
    const times = LARGEST_WEIGHT / largest;
    for (let k = 0, at = n; k < inputs; k++, at += outputs)
      values[at] = Math.round((row[k] as number) * times);
  }
  return { values, scales };
}
