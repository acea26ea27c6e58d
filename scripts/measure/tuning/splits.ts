import {
  correctRow,
  figuresOf,
  foldsOf,
  simplest,
  sureOf,
  type Tried,
  tryAll,
} from "../../../src/tuning/fit/choose.ts";
import { fitCorrection, type TuningRow } from "../../../src/tuning/fit/fit.ts";
import type { TuningFigures } from "../../../src/tuning/tuning-file.ts";
import type { CollectedSet } from "./collect.ts";
import { seededRandom } from "./seeded-random.ts";

/** The compared corrections: none, always each kind, and what `decision tune` chooses. */
export const WAYS = ["none", "scale", "head", "tune"] as const;
export type Way = (typeof WAYS)[number];

/** A split of a set: fitted to some rows, measured on the others. */
export interface Split {
  readonly figures: Readonly<Record<Way, TuningFigures>>;
  /** What `decision tune` chose. */
  readonly written: "scale" | "head" | "nothing";
  /** The cross-validated figures on the fitted rows, as `decision tune` reports them. */
  readonly promised: TuningFigures;
}

/** Splits a set, fits and measures. @param count rows to fit */
export function split(set: CollectedSet, count: number, seed: number): Split {
  const rows = shuffled(rowsOf(set), seed);
  const fit = rows.slice(0, count);
  const check = rows.slice(count);
  const { temperature } = set;
  const folds = foldsOf(fit);
  if (folds === undefined) throw new Error(`${count} rows are too few`);
  const sure = sureOf(count);
  // the steps of `chooseTuning`, without repeating a fit
  const all = tryAll(fit, folds, temperature, ["scale", "head"]);
  const scales = all.filter(({ strength }) => strength !== undefined && strength.head === undefined);
  const among = all.filter(({ strength }) => strength?.head !== undefined);
  const heads = among.length > 0 ? among : tryAll(fit, folds, temperature, ["head"]).slice(1);
  const chosen = simplest(all, sure);
  const figures = ({ strength }: Pick<Tried, "strength">) => {
    const fitted = strength && fitCorrection(fit, temperature, strength);
    const scores = check.map((row) => (fitted === undefined ? row.scores : correctRow(fitted, row)));
    return figuresOf(check, scores, temperature);
  };
  return {
    figures: {
      none: figures({ strength: undefined }),
      scale: figures(simplest(scales, sure)),
      head: figures(simplest(heads, sure)),
      tune: figures(chosen),
    },
    written:
      chosen.strength === undefined ? "nothing" : chosen.strength.head === undefined ? "scale" : "head",
    promised: figuresOf(fit, chosen.scores, temperature),
  };
}

function rowsOf({ labels, truths, scores, vectors }: CollectedSet): TuningRow[] {
  const count = labels.length;
  const size = vectors.length / scores.length;
  return truths.map((truth, at) => ({
    key: String(at),
    truth,
    scores: scores.subarray(at * count, (at + 1) * count),
    vectors: vectors.subarray(at * count * size, (at + 1) * count * size),
  }));
}

/** Fisher-Yates shuffle. */
function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const random = seededRandom(seed);
  const result = [...items];
  for (let at = result.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    const [a, b] = [result[at] as Item, result[other] as Item];
    result[at] = b;
    result[other] = a;
  }
  return result;
}
