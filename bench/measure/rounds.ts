export interface RoundLimits {
  /** Rounds at most. */
  readonly rounds: number;
  /** No round begins after that, but for the first few. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
}

/** Chosen: a median of fewer is no better than one of them, and there are no quartiles. */
const LEAST_ROUNDS = 3;

/** Numbers of the rounds that begin in time: at least three, where that many were asked for. */
export function* roundsWithin({ rounds, budgetMs }: Omit<RoundLimits, "signal">): Generator<number> {
  const endAt = performance.now() + budgetMs;
  for (let round = 0; round < rounds; round++) {
    if (round >= LEAST_ROUNDS && performance.now() >= endAt) return;
    yield round;
  }
}

/**
 * Measures several things in turn, so that whatever else the machine does meets all of them: A B, B A, A B, ...
 *
 * @param arms each measures once and gives its value for the round, by its number
 * @returns    [rounds] values of each arm
 * @throws the signal's reason, between measurements
 */
export async function interleave<Name extends string>(
  arms: Readonly<Record<Name, (round: number) => Promise<number>>>,
  { signal, ...limits }: RoundLimits,
): Promise<Record<Name, number[]>> {
  // the names of a record are its own
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
