import { type Spread, spreadOf } from "./statistics.ts";

/** One number of a report, with its rounds. */
export interface Measurement {
  /** Stable name, used by `--compare`. */
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
  /** A goal of this project, not a guarantee. */
  readonly target?: number;
}

export function measurement(
  facts: Pick<Measurement, "name" | "title" | "unit" | "better"> & { readonly target?: number },
  rounds: readonly number[],
): Measurement {
  const spread = spreadOf(rounds);
  return { ...facts, value: spread.median, spread, rounds };
}

/** Whether the target is reached; undefined without a target. */
export function isReached({ value, target, better }: Measurement): boolean | undefined {
  if (target === undefined) return undefined;
  return better === "higher" ? value >= target : value <= target;
}
