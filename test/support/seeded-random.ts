/** Numbers that look random and repeat with their seed. @see Steele and Vigna 2021, mulberry32 as by T. Ettinger */
export function seededRandom(seed: number): { next(): number; below(n: number): number } {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, below: (n) => Math.floor(next() * n) };
}
