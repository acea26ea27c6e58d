export interface RoundLimits {
  /** Maximum number of rounds. */
  readonly rounds: number;
  /** No round starts after this time, except for the first few. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
}

/** Chosen: with fewer, a median is no better than one value, and there are no quartiles. */
const LEAST_ROUNDS = 3;

/** Indexes of the rounds that start in time: at least three, if as many were requested. */
export function* roundsWithin({ rounds, budgetMs }: Omit<RoundLimits, "signal">): Generator<number> {
  const endAt = performance.now() + budgetMs;
  for (let round = 0; round < rounds; round++) {
    if (round >= LEAST_ROUNDS && performance.now() >= endAt) return;
    yield round;
  }
}

/**
 * Measures several things in alternating order (A B, B A, A B, ...), so that other load affects all of them.
 *
 * @param arms each measures once and returns the value of the round
 * @returns    [rounds] values of each arm
 * @throws the signal's reason, between measurements
 */
export async function interleave<Name extends string>(
  arms: Readonly<Record<Name, (round: number) => Promise<number>>>,
  { signal, ...limits }: RoundLimits,
): Promise<Record<Name, number[]>> {
  // Object.keys gives exactly the names of the record
  const names = Object.keys(arms) as Name[];
  const values = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (const round of roundsWithin(limits)) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      signal.throwIfAborted();
      values[name].push(await arms[name](round));
    }
  }
  return values;
}
