import { type Spread, spreadOf } from "./statistics.ts";

/** One number of a report, with its rounds. */
export interface Measurement {
  /** Stable name, used by `--compare`. */
  readonly name: string;
  readonly title: string;
  readonly unit: "x" | "%" | "ms" | "s" | "pairs/s" | "decisions/s" | "tokens/s" | "requests/s" | "MiB";
  readonly better: "higher" | "lower";
  /** The median of the rounds. */
  readonly value: number;
  readonly spread: Spread;
  /** One value for each round. */
  readonly rounds: readonly number[];
}

export function measurement(
  facts: Pick<Measurement, "name" | "title" | "unit" | "better">,
  rounds: readonly number[],
): Measurement {
  const spread = spreadOf(rounds);
  return { ...facts, value: spread.median, spread, rounds };
}
