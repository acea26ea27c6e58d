/**
 * Cosines and sines of rotary embeddings. Angles are rounded to float32 like in the reference library: at position
 * 3,000 this changes an angle by 1e-4.
 *
 * @param theta base of the frequencies
 * @param size  numbers of a head, even
 * @returns     two tables [positions, size / 2]
 * @see Su et al. 2021, RoFormer
 */
export function rotaryTables(
  theta: number,
  size: number,
  positions: number,
): { cosines: Float32Array; sines: Float32Array } {
  const half = size / 2;
  const frequencies = Float32Array.from({ length: half }, (_, i) =>
    Math.fround(1 / Math.fround(theta ** Math.fround((2 * i) / size))),
  );
  const cosines = new Float32Array(positions * half);
  const sines = new Float32Array(positions * half);
  for (let position = 0, at = 0; position < positions; position++) {
    for (const frequency of frequencies) {
      const angle = Math.fround(position * frequency);
      cosines[at] = Math.cos(angle);
      sines[at] = Math.sin(angle);
      at += 1;
    }
  }
  return { cosines, sines };
}
