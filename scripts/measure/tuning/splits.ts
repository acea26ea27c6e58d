import { chooseTuning, correctRow, figuresOf, type TuningChoice } from "../../../src/tuning/fit/choose.ts";
import type { TuningRow } from "../../../src/tuning/fit/fit.ts";
import type { TuningFigures } from "../../../src/tuning/tuning-file.ts";
import type { CollectedSet } from "./collect.ts";
import { seededRandom } from "./seeded-random.ts";

/** What is compared: no correction, each kind always, and what `decision tune` writes. */
export const WAYS = ["none", "scale", "head", "tune"] as const;
export type Way = (typeof WAYS)[number];

/** One split of a set: fitted to some rows, measured on the others. */
export interface Split {
  readonly figures: Readonly<Record<Way, TuningFigures>>;
  /** What `decision tune` chose. */
  readonly written: "scale" | "head" | "nothing";
  /** What it said of itself, on the rows it was fitted to by cross-validation. */
  readonly promised: TuningFigures;
}

/** @param count rows to fit */
export function split(set: CollectedSet, count: number, seed: number): Split {
  const rows = shuffled(rowsOf(set), seed);
  const fit = rows.slice(0, count);
  const check = rows.slice(count);
  const { temperature } = set;
  const scale = chooseTuning(fit, temperature, ["scale"]);
  const head = chooseTuning(fit, temperature, ["head"]);
  // as with both kinds allowed, without computing each twice
  const best = head.after.log_loss < scale.after.log_loss ? head : scale;
  const figures = (choice: TuningChoice | undefined) => {
    const scores = check.map((row) => (choice === undefined ? row.scores : correctRow(choice.fitted, row)));
    return figuresOf(check, scores, temperature);
  };
  const chosen = best.isBetter ? best : undefined;
  return {
    figures: { none: figures(undefined), scale: figures(scale), head: figures(head), tune: figures(chosen) },
    written: chosen?.kind ?? "nothing",
    promised: chosen?.after ?? best.before,
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

/** Fisher and Yates. */
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
