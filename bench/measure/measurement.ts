import { type Spread, spreadOf } from "./statistics.ts";

/** One number of a report, with what it comes from. */
export interface Measurement {
  /** Stable: `--compare` finds its counterpart by it. */
  readonly name: string;
  readonly title: string;
  readonly unit:
    | "x"
    | "%"
    | "ms"
    | "s"
    | "pairs/s"
    | "decisions/s"
    | "tokens/s"
    | "requests/s"
    | "MiB"
    | "GOP/s";
  readonly better: "higher" | "lower";
  /** The median of the rounds. */
  readonly value: number;
  readonly spread: Spread;
  /** One value for each round. */
  readonly rounds: readonly number[];
  /** A goal of this project; no promise for any machine. */
  readonly target?: number;
}

export function measurement(
  facts: Pick<Measurement, "name" | "title" | "unit" | "better"> & { readonly target?: number },
  rounds: readonly number[],
): Measurement {
  const spread = spreadOf(rounds);
  return { ...facts, value: spread.median, spread, rounds };
}

/** Whether a target is reached; undefined without one. */
export function isReached({ value, target, better }: Measurement): boolean | undefined {
  if (target === undefined) return undefined;
  return better === "higher" ? value >= target : value <= target;
}
