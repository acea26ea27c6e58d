/**
 * Keys and values of one node, as inputs of later forwards.
 *
 * `keys[layer]` is [heads, size, tokens], as the product of queries and keys takes them, `values[layer]` [heads, tokens,
 * value size]. The functions below work on any [outer, tokens, inner]: keys are [heads * size, tokens, 1] to them.
 */
export interface KeyValues {
  readonly tokens: number;
  readonly keys: readonly Float32Array<ArrayBuffer>[];
  readonly values: readonly Float32Array<ArrayBuffer>[];
}

/** Sizes of a model's keys and values. */
export interface KeyValueShape {
  readonly layers: number;
  /** Number of key-value heads. */
  readonly heads: number;
  /** Size of a head's key. */
  readonly size: number;
  /** Size of a head's value. */
  readonly valueSize: number;
}

/** Memory of a node's keys and values. */
export function byteLength(keyValues: KeyValues): number {
  return arraysOf(keyValues).reduce((sum, array) => sum + array.byteLength, 0);
}

/**
 * A range of tokens of a tensor.
 *
 * @param tensor [outer, tokens, inner]
 * @returns      [outer, end - begin, inner]: a copy, or the tensor itself if the range is all of it
 */
export function cutTokens(
  tensor: Float32Array<ArrayBuffer>,
  { outer, inner, begin, end }: { outer: number; inner: number; begin: number; end: number },
): Float32Array<ArrayBuffer> {
  const stride = tensor.length / outer;
  const size = (end - begin) * inner;
  if (size === stride) return tensor;
  if (begin * inner + size > stride) throw new RangeError(`this tensor has no tokens ${begin} to ${end}`);
  const cut = new Float32Array(outer * size);
  for (let i = 0; i < outer; i++) {
    const from = i * stride + begin * inner;
    cut.set(tensor.subarray(from, from + size), i * size);
  }
  return cut;
}

/**
 * Concatenates tensors along their tokens.
 *
 * @param tensors each [outer, its tokens, inner]
 * @returns       [outer, all tokens, inner]; the tensor itself if there is only one
 */
export function joinTokens(
  tensors: readonly Float32Array<ArrayBuffer>[],
  outer: number,
): Float32Array<ArrayBuffer> {
  const [first] = tensors;
  if (first && tensors.length === 1) return first;
  const joined = new Float32Array(tensors.reduce((sum, tensor) => sum + tensor.length, 0));
  let at = 0;
  for (let i = 0; i < outer; i++) {
    for (const tensor of tensors) {
      const size = tensor.length / outer;
      joined.set(tensor.subarray(i * size, (i + 1) * size), at);
      at += size;
    }
  }
  return joined;
}

export const arraysOf = ({ keys, values }: KeyValues) => [...keys, ...values];

export function copyOf({ tokens, keys, values }: KeyValues): KeyValues {
  return { tokens, keys: keys.map((array) => array.slice()), values: values.map((array) => array.slice()) };
}
