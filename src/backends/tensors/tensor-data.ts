/** An input of a graph, independent of any runtime. `data` has its elements in row-major order; a bool is a byte of 0 or 1. */
export interface TensorData {
  readonly type: "bool" | "int32" | "int64" | "float32";
  readonly data: Uint8Array | Int32Array | BigInt64Array | Float32Array;
  readonly dims: readonly number[];
}

export const bool = (value: boolean): TensorData => ({
  type: "bool",
  data: Uint8Array.of(value ? 1 : 0),
  dims: [],
});
export const int32 = (data: Int32Array, dims: readonly number[] = [data.length]): TensorData => ({
  type: "int32",
  data,
  dims,
});
export const int64 = (values: ArrayLike<number>, dims: readonly number[] = [values.length]): TensorData => ({
  type: "int64",
  data: BigInt64Array.from(Array.from(values, BigInt)),
  dims,
});
export const float32 = (data: Float32Array, dims: readonly number[]): TensorData => ({
  type: "float32",
  data,
  dims,
});
