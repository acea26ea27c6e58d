/** Smallest array with pages of its own, in bytes. Chosen: new pages take three times as long as the heap's, so only very long states get them. */
const LEAST_BYTES = 2 ** 20;

// of the ES2024 library, which Node.js has had since version 20
const ResizableBuffer = ArrayBuffer as new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer;

/**
 * A zeroed array. A large one has pages of its own, which return to the system when the array is collected. An array in the allocator's
 * heap that lives as long as a cached state, among the tensors of the runtime that come and go, would keep the heap from
 * shrinking.
 *
 * V8 maps pages for resizable buffers only. Other threads receive them as they are.
 *
 * @param length number of elements
 */
export function mappedArray(length: number): Float32Array<ArrayBuffer> {
  const bytes = length * Float32Array.BYTES_PER_ELEMENT;
  if (bytes < LEAST_BYTES) return new Float32Array(length);
  return new Float32Array(new ResizableBuffer(bytes, { maxByteLength: bytes }), 0, length);
}

/** A copy with the memory of `mappedArray`. */
export function mappedCopy(array: Float32Array): Float32Array<ArrayBuffer> {
  const copy = mappedArray(array.length);
  copy.set(array);
  return copy;
}
