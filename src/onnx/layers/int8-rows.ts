/** A matrix as int8 with one scale per row: `values[row][column] * scales[row]`. */
export interface Int8Rows {
  readonly values: Int8Array; // [rows, columns]
  readonly scales: Float32Array; // [rows]
}

/** The same in float32. */
export function scaledRows({ values, scales }: Int8Rows): Float32Array {
  const columns = values.length / scales.length;
  return new Float32Array(values).map((value, at) => value * (scales[Math.floor(at / columns)] as number)); // in range
}
