/**
 * Keys and values of one node: what later forwards need of it.
 *
 * Each array is [heads, tokens, width]: `keys[layer]` with the head size as width, `values[layer]` with one more.
 */
export interface KeyValues {
  readonly tokens: number;
  readonly keys: readonly Float32Array[];
  readonly values: readonly Float32Array[];
}

/** Memory of a node's keys and values. */
export function byteLength({ keys, values }: KeyValues): number {
  return [...keys, ...values].reduce((sum, array) => sum + array.byteLength, 0);
}

/**
 * Copies a range of tokens out of a tensor.
 *
 * @param tensor [heads, tokens, width]
 * @returns      [heads, end - begin, width]
 */
export function cutTokens(
  tensor: Float32Array,
  { heads, width, begin, end }: { heads: number; width: number; begin: number; end: number },
): Float32Array {
  const stride = tensor.length / heads;
  const size = (end - begin) * width;
  const cut = new Float32Array(heads * size);
  for (let head = 0; head < heads; head++) {
    const from = head * stride + begin * width;
    cut.set(tensor.subarray(from, from + size), head * size);
  }
  return cut;
}

/**
 * Puts tensors behind one another along their tokens.
 *
 * @param tensors each [heads, its tokens, width]
 * @returns       [heads, all tokens, width]; the tensor itself where there is only one
 */
export function joinTokens(tensors: readonly Float32Array[], heads: number): Float32Array {
  const [first] = tensors;
  if (first && tensors.length === 1) return first;
  const joined = new Float32Array(tensors.reduce((sum, tensor) => sum + tensor.length, 0));
  let at = 0;
  for (let head = 0; head < heads; head++) {
    for (const tensor of tensors) {
      const size = tensor.length / heads;
      joined.set(tensor.subarray(head * size, (head + 1) * size), at);
      at += size;
    }
  }
  return joined;
}
