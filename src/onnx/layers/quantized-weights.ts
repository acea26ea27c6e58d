/** Weights as int8 with one scale per output: approximately `values[k][n] * scales[n]`. */
export interface QuantizedWeights {
  readonly values: Int8Array; // [inputs, outputs]
  readonly scales: Float32Array; // [outputs]
}

/** Largest magnitude of a weight. */
const LARGEST_WEIGHT = 127;

/** Block size of the rotation before rounding; see `quantizeWeights`. */
const LONGEST_BLOCK = 32;

/** @returns the largest power of two, at most 32, that divides `size` */
export function rotationBlock(size: number): number {
  let block = 1;
  while (block < LONGEST_BLOCK && size % (block * 2) === 0) block *= 2;
  return block;
}

/**
 * Multiplies each run of `block` numbers by the Hadamard matrix of that size, in place (a fast Walsh-Hadamard
 * transform). Not orthonormal: results are larger by the square root of the block size.
 */
function walshHadamard(numbers: Float64Array, block: number): void {
  for (let half = 1; half < block; half *= 2) butterflies(numbers, half);
}

/** Sum and difference of each number and the number `half` positions later. */
function butterflies(numbers: Float64Array, half: number): void {
  for (let start = 0; start < numbers.length; start += 2 * half) {
    for (let i = start; i < start + half; i++) {
      const a = numbers[i] as number; // in range: the length is a multiple of 2 * half
      const b = numbers[i + half] as number;
      numbers[i] = a + b;
      numbers[i + half] = a - b;
    }
  }
}

/** Multiplies each run of `block` rows by the orthonormal Hadamard matrix. @param matrix [rows, columns] */
export function rotateRows(matrix: Float32Array, block: number, columns: number): Float32Array {
  const numbers = new Float64Array(matrix);
  const norm = 1 / Math.sqrt(block);
  // `block` consecutive rows form one run of `block * columns` numbers: the same steps, `columns` times as wide
  for (let half = columns; half < block * columns; half *= 2) butterflies(numbers, half);
  return new Float32Array(numbers.map((x) => x * norm));
}

/** The orthonormal Hadamard matrix, its own inverse. @returns [size, size], `size` a power of two */
export function hadamard(size: number): Float32Array {
  const matrix = new Float64Array(size * size);
  for (let i = 0; i < size; i++) matrix[i * size + i] = 1 / Math.sqrt(size);
  walshHadamard(matrix, size);
  return new Float32Array(matrix);
}

/**
 * Rotates rows in blocks (each run of `block` numbers is multiplied by the Hadamard matrix) and rounds them.
 *
 * Weights and activations are rotated alike, so their product does not change. An outlier is spread over its block,
 * which reduces the row's scale and the rounding error.
 *
 * @param weight [outputs, inputs]
 * @see Ashkboos et al. 2024, QuaRot: Outlier-Free 4-Bit Inference in Rotated LLMs
 */
export function quantizeWeights(weight: Float32Array, outputs: number, block: number): QuantizedWeights {
  const inputs = weight.length / outputs;
  const values = new Int8Array(weight.length);
  const scales = new Float32Array(outputs).fill(1);
  const row = new Float64Array(inputs);
  for (let n = 0; n < outputs; n++) {
    row.set(weight.subarray(n * inputs, (n + 1) * inputs));
    walshHadamard(row, block);
    const largest = largestMagnitude(row);
    if (largest === 0) continue;
    scales[n] = largest / Math.sqrt(block) / LARGEST_WEIGHT;
    const times = LARGEST_WEIGHT / largest;
    // rounds half away from zero; storing into the array truncates
    for (let k = 0, at = n; k < inputs; k++, at += outputs) {
      const value = (row[k] as number) * times;
      values[at] = value < 0 ? value - 0.5 : value + 0.5;
    }
  }
  return { values, scales };
}

function largestMagnitude(numbers: Float64Array): number {
  let largest = 0;
  for (let i = 0; i < numbers.length; i++) {
    const magnitude = Math.abs(numbers[i] as number);
    if (magnitude > largest) largest = magnitude;
  }
  return largest;
}
