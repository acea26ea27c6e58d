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
