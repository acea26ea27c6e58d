import type { Comparison } from "./compare.ts";
import { numberText, withUnit } from "./number-text.ts";
import type { Table } from "./terminal.ts";

/** Ratios of two runs, marked where they lie beyond both runs' noise, given how many there are. */
export function comparisonTable(comparisons: readonly Comparison[], file: string): Table {
  return {
    title: `Against ${file}: new over old`,
    head: ["figure", "old", "new", "ratio", ""],
    rows: comparisons.map(({ name, unit, old, new: now, ratio, verdict }) => [
      name,
      withUnit(old, unit),
      withUnit(now, unit),
      numberText(ratio),
      verdict === "better" || verdict === "worse" ? `${verdict.toUpperCase()}` : verdict,
    ]),
    note: "Better or worse: if nothing has changed, any mark at all comes in at most one of twenty comparisons.",
  };
}
