/** Smallest array with pages of its own, in bytes. Chosen: new pages take three times as long as those of the heap. */
const LEAST_BYTES = 2 ** 20;

// of the ES2024 library, which Node.js has had since version 20
const ResizableBuffer = ArrayBuffer as new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer;

/**
 * A zeroed array. A large one has pages of its own, which return to the system when the array is collected. In the allocator's
 * heap, a large array that lives as long as a cached state would keep the heap from shrinking, because the runtime's tensors
 * come and go around it.
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
export function mappedCopy(array: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  if (array.byteLength < LEAST_BYTES) return array.slice(); // without clearing it first
  const copy = mappedArray(array.length);
  copy.set(array);
  return copy;
}
