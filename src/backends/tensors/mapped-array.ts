import { isMainThread } from "node:worker_threads";

/** Smallest array with pages of its own, in bytes. Chosen: new pages take three times as long as those of the heap. */
const LEAST_BYTES = 2 ** 20;
/**
 * Limit of the spare buffers, in bytes. Chosen: keys and values of a state of 1,000 tokens. To map and clear new pages for them takes 5 %
 * of the time of its forward. Only in the main thread: the others seldom compute such states.
 */
const MOST_SPARE_BYTES = isMainThread ? 20 * 2 ** 20 : 0;

/** A buffer with pages of its own. V8 maps pages for resizable buffers only. Other threads receive them as they are. */
interface MappedBuffer extends ArrayBuffer {
  readonly maxByteLength: number;
  resize(bytes: number): void;
}

// of the ES2024 library, which Node.js has had since version 20
const ResizableBuffer = ArrayBuffer as unknown as new (
  bytes: number,
  options: { maxByteLength: number },
) => MappedBuffer;

/** Buffers of this thread for new arrays, most recently used last. */
const spare: MappedBuffer[] = [];

/**
 * An array whose elements are all to be set: they may have values of an array given to `reuseLater`. A large one has pages of its own,
 * which return to the system when the array is collected. In the allocator's heap, a large array would keep the heap from
 * shrinking, because the runtime's tensors come and go around it.
 *
 * @param length number of elements
 */
export function mappedArray(length: number): Float32Array<ArrayBuffer> {
  const bytes = length * Float32Array.BYTES_PER_ELEMENT;
  if (bytes < LEAST_BYTES) return new Float32Array(length);
  const at = spare.findLastIndex(({ maxByteLength }) => maxByteLength >= bytes);
  const [known] = at < 0 ? [] : spare.splice(at, 1);
  known?.resize(bytes);
  return new Float32Array(known ?? newBuffer(bytes), 0, length);
}

/** Reserves addresses up to the next power of two, so that the buffer can be used again for similar lengths. */
function newBuffer(bytes: number): MappedBuffer {
  return new ResizableBuffer(bytes, { maxByteLength: 2 ** Math.ceil(Math.log2(bytes)) });
}

/** A copy with the memory of `mappedArray`. */
export function mappedCopy(array: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  if (array.byteLength < LEAST_BYTES) return array.slice(); // without clearing it first
  const copy = mappedArray(array.length);
  copy.set(array);
  return copy;
}

/** Empties a large array. Later arrays of this thread get its pages. No effect on small arrays. */
export function reuseLater(array: Float32Array<ArrayBuffer>): void {
  const { buffer } = array;
  if (!isMapped(buffer)) return;
  const used = spare.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (used + buffer.byteLength > MOST_SPARE_BYTES) unmap(array);
  else spare.push(structuredClone(buffer, { transfer: [buffer] })); // so that nothing else can reach the pages
}

/** Empties a large array, and returns its pages to the system now. No effect on small arrays. */
export function unmap({ buffer }: Float32Array<ArrayBuffer>): void {
  if (isMapped(buffer)) buffer.resize(0);
}

function isMapped(buffer: ArrayBuffer): buffer is MappedBuffer {
  return "resizable" in buffer && buffer.resizable === true;
}
