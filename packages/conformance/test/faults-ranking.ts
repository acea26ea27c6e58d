import type { Fault } from "./faulty-service.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import { eachOf, rowsOf, setRows } from "./planting.ts";
import { inner, reorder, type TreeMap } from "./tree.ts";

const scoreOf = (row: TreeMap) => Number(row.get("score"));
/** Rows in another order, with the ranks that belong to it. */
const sorted = (compare: (a: TreeMap, b: TreeMap) => number): Fault =>
  on.answer((body) => {
    const rows = rowsOf(body).toSorted(compare);
    for (const [index, row] of rows.entries()) row.set("rank", index + 1);
    setRows(body, rows);
  });

/** Orders and ties. */
export const RANKING_FAULTS: readonly PlantedFault[] = [
  ...faults({
    "scores compared as texts: rank.order": sorted((a, b) =>
      String(a.get("score")) < String(b.get("score")) ? 1 : -1,
    ),
    "levels in the order of texts: arithmetic.many-levels, systemone.every-answer": eachOf(
      "score",
      (answer) => {
        for (const member of ["scores", "probabilities"])
          reorder(inner(answer, member), (names) => names.toSorted());
      },
    ),
  }),
  ...faults(
    {
      "tied candidates share a rank: rank.every-answer": on.answer((body) => {
        const rows = rowsOf(body);
        for (const [index, row] of rows.entries()) {
          const before = rows[index - 1];
          if (before !== undefined && scoreOf(before) === scoreOf(row))
            row.set("rank", before.get("rank") ?? 1);
        }
      }),
    },
    { only: ["rank.ties", "rank.every-answer"] },
  ),
];
