/** Every float16 as float32, by its bits: 65,536 entries. */
let table: Float32Array | undefined;

/**
 * @param halves [n] bits of IEEE 754 binary16 numbers
 * @returns      [n] the same numbers in float32, exactly
 */
export function float16ToFloat32(halves: Uint16Array): Float32Array {
  table ??= makeTable();
  const floats = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i++) floats[i] = table[halves[i] ?? 0] ?? 0;
  return floats;
}

function makeTable(): Float32Array {
  return Float32Array.from({ length: 65536 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    return sign * (1024 + fraction) * 2 ** (exponent - 25);
  });
}

/**
 * @param halves [n] bits of bfloat16 numbers: the upper half of a float32
 * @returns      [n] the same numbers in float32, exactly
 */
export function bfloat16ToFloat32(halves: Uint16Array): Float32Array {
  const floats = new Float32Array(halves.length);
  const bits = new Uint32Array(floats.buffer);
  for (let i = 0; i < halves.length; i++) bits[i] = (halves[i] ?? 0) << 16;
  return floats;
}
