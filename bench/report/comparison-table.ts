import type { Comparison } from "./compare.ts";
import { numberText, withUnit } from "./number-text.ts";
import type { Table } from "./terminal.ts";

/** Table of the ratios of two runs, with marks. */
export function comparisonTable(comparisons: readonly Comparison[], file: string): Table {
  return {
    title: `Compared with ${file}: ratio new / old`,
    head: ["figure", "old", "new", "ratio", ""],
    rows: comparisons.map(({ name, unit, old, new: now, ratio, verdict }) => [
      name,
      withUnit(old, unit),
      withUnit(now, unit),
      numberText(ratio),
      verdict === "better" || verdict === "worse" ? `${verdict.toUpperCase()}` : verdict,
    ]),
    note: "If nothing has changed, at most one comparison in twenty shows a mark (better or worse).",
  };
}
