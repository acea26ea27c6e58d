import type { Fault } from "./faulty-service.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { eachOf, rowsOf, setRows } from "./planting.ts";
import { inner, readTree, reorder, type TreeMap } from "./tree.ts";

const scoreOf = (row: TreeMap) => Number(row.get("score"));
/** Rows in another order, with the ranks that belong to it. */
const sorted = (compare: (a: TreeMap, b: TreeMap) => number): Fault => ({
  answer: (body) => {
    const rows = rowsOf(body).toSorted(compare);
    for (const [index, row] of rows.entries()) row.set("rank", index + 1);
    setRows(body, rows);
  },
});
const byLabel = (a: TreeMap, b: TreeMap) =>
  String(a.get("candidate")) < String(b.get("candidate")) ? -1 : 1;
const asObject = (names: readonly string[]) =>
  Object.keys(Object.fromEntries(names.map((name) => [name, 0])));

/** Orders and ties. */
export const RANKING_FAULTS: readonly PlantedFault[] = [
  {
    name: "tied candidates by the alphabet",
    fault: sorted((a, b) => scoreOf(b) - scoreOf(a) || byLabel(a, b)),
    fails: ["rank.every-answer", "rank.ties"],
  },
  {
    name: "of tied labels the first by the alphabet is the choice",
    fault: eachOf("choice", (answer) => {
      const scores = [...inner(answer, "scores")];
      const best = Math.max(...scores.map(([, score]) => Number(score)));
      const tied = scores.filter(([, score]) => Number(score) === best).map(([label]) => label);
      answer.set("choice", tied.toSorted()[0] ?? "");
    }),
    fails: ["systemone.ties"],
  },
  {
    name: "tied candidates share a rank",
    fault: {
      answer: (body) => {
        const rows = rowsOf(body);
        for (const [index, row] of rows.entries()) {
          const before = rows[index - 1];
          if (before !== undefined && scoreOf(before) === scoreOf(row))
            row.set("rank", before.get("rank") ?? 1);
        }
      },
    },
    fails: ["rank.every-answer"],
    only: ["rank.ties", "rank.every-answer"],
  },
  {
    name: "scores that are close taken as tied",
    fault: sorted(
      (a, b) =>
        Math.round(scoreOf(b) * 10) - Math.round(scoreOf(a) * 10) ||
        Number(a.get("candidate")) - Number(b.get("candidate")),
    ),
    fails: ["rank.every-answer", "rank.ties"],
  },
  {
    name: "scores compared as texts",
    fault: sorted((a, b) => (String(a.get("score")) < String(b.get("score")) ? 1 : -1)),
    fails: ["rank.every-answer", "rank.order", "rank.ties"],
  },
  {
    name: "tied labels that look like integers by their number",
    fault: {
      answer: (body, operation, request) => {
        const candidates = inner(readTree(request), "candidates");
        const order = asObject([...candidates.keys()]);
        const at = (row: TreeMap) => order.indexOf(String(row.get("candidate")));
        if (candidates.size > 0)
          sorted((a, b) => scoreOf(b) - scoreOf(a) || at(a) - at(b)).answer?.(body, operation, request);
      },
    },
    fails: ["rank.every-answer", "rank.ties"],
  },
  {
    name: "levels in the order of texts",
    fault: eachOf("score", (answer) => {
      for (const member of ["scores", "probabilities"])
        reorder(inner(answer, member), (names) => names.toSorted());
    }),
    fails: ["arithmetic.many-levels", "systemone.every-answer"],
  },
  {
    name: "probabilities of a ranking in the order of the request",
    fault: {
      answer: (body, _operation, request) => {
        const given = readTree(request);
        const list = given instanceof Map ? (given.get("candidates") ?? given.get("answers")) : undefined;
        const labels = Array.isArray(list) ? list.map((_, index) => String(index)) : [...inner(list).keys()];
        const rows = rowsOf(body);
        const shares = labels.map((label) =>
          rows.find((row) => row.get("candidate") === label)?.get("probability"),
        );
        for (const [index, row] of rows.entries()) row.set("probability", shares[index] ?? 0);
      },
    },
    fails: ["arithmetic.many-levels", "arithmetic.precision", "arithmetic.softmax", "rank.every-answer"],
  },
  {
    name: "a choice at even scores is the label that is first by JavaScript's order",
    fault: eachOf("choice", (answer) => {
      const scores = inner(answer, "scores");
      const best = Math.max(...[...scores.values()].map(Number));
      answer.set("choice", asObject([...scores.keys()]).find((label) => scores.get(label) === best) ?? "");
    }),
    fails: ["systemone.ties"],
  },
];
