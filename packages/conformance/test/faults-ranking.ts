import type { Fault } from "./faulty-service.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import { eachOf, rowsOf, setRows } from "./planting.ts";
import { inner, readTree, reorder, type TreeMap } from "./tree.ts";

const scoreOf = (row: TreeMap) => Number(row.get("score"));
/** Rows in another order, with the ranks that belong to it. */
const sorted = (compare: (a: TreeMap, b: TreeMap) => number): Fault =>
  on.answer((body) => {
    const rows = rowsOf(body).toSorted(compare);
    for (const [index, row] of rows.entries()) row.set("rank", index + 1);
    setRows(body, rows);
  });
const byLabel = (a: TreeMap, b: TreeMap) =>
  String(a.get("candidate")) < String(b.get("candidate")) ? -1 : 1;
const asObject = (names: readonly string[]) =>
  Object.keys(Object.fromEntries(names.map((name) => [name, 0])));

/** Orders and ties. */
export const RANKING_FAULTS: readonly PlantedFault[] = [
  ...faults({
    "tied candidates by the alphabet: rank.ties, rank.every-answer": sorted(
      (a, b) => scoreOf(b) - scoreOf(a) || byLabel(a, b),
    ),
    "of tied labels the first by the alphabet is the choice: systemone.ties": eachOf("choice", (answer) => {
      const scores = [...inner(answer, "scores")];
      const best = Math.max(...scores.map(([, score]) => Number(score)));
      const tied = scores.filter(([, score]) => Number(score) === best).map(([label]) => label);
      answer.set("choice", tied.toSorted()[0] ?? "");
    }),
    "a choice at even scores is the label that is first by JavaScript's order: systemone.ties": eachOf(
      "choice",
      (answer) => {
        const scores = inner(answer, "scores");
        const best = Math.max(...[...scores.values()].map(Number));
        answer.set("choice", asObject([...scores.keys()]).find((label) => scores.get(label) === best) ?? "");
      },
    ),
    "scores that are close taken as tied: rank.every-answer, rank.ties": sorted(
      (a, b) =>
        Math.round(scoreOf(b) * 10) - Math.round(scoreOf(a) * 10) ||
        Number(a.get("candidate")) - Number(b.get("candidate")),
    ),
    "tied labels that look like integers by their number: rank.every-answer, rank.ties": on.answer(
      (body, operation, request) => {
        const candidates = inner(readTree(request), "candidates");
        const order = asObject([...candidates.keys()]);
        const at = (row: TreeMap) => order.indexOf(String(row.get("candidate")));
        if (candidates.size > 0)
          sorted((a, b) => scoreOf(b) - scoreOf(a) || at(a) - at(b)).answer?.(body, operation, request);
      },
    ),
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
    "probabilities of a ranking in the order of the request: arithmetic.many-levels, rank.every-answer":
      on.answer((body, _operation, request) => {
        const given = readTree(request);
        const list = given instanceof Map ? (given.get("candidates") ?? given.get("answers")) : undefined;
        const labels = Array.isArray(list) ? list.map((_, index) => String(index)) : [...inner(list).keys()];
        const rows = rowsOf(body);
        const shares = labels.map((label) =>
          rows.find((row) => row.get("candidate") === label)?.get("probability"),
        );
        for (const [index, row] of rows.entries()) row.set("probability", shares[index] ?? 0);
      }),
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
