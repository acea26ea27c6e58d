export interface RoundLimits {
  /** Rounds at most. */
  readonly rounds: number;
  /** No round begins after that; the first always does. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
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
  { rounds, budgetMs, signal }: RoundLimits,
): Promise<Record<Name, number[]>> {
  // the names of a record are its own
  const names = Object.keys(arms) as Name[];
  const values = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  const endAt = performance.now() + budgetMs;
  for (let round = 0; round < rounds && (round === 0 || performance.now() < endAt); round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      signal.throwIfAborted();
      values[name].push(await arms[name](round));
    }
  }
  return values;
}
