/** Numbers from 0 to below 1 that are the same in each run. @see Vigna 2015, xorshift (32 bits) */
export function seededRandom(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
