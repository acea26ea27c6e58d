import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  chanceOfSeparation,
  checkSameEffort,
  type FigurePair,
  verdictsOf,
} from "../../bench/report/compare.ts";
import type { Report } from "../../bench/report/report.ts";
import { figure } from "./measurements.ts";

/** Rounds that begin at a number and go up by one. */
const from = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);
const pair = (old: readonly number[], now: readonly number[]): FigurePair => ({
  old: figure(old),
  now: figure(now),
});
const verdicts = (pairs: readonly FigurePair[]) => {
  const found = verdictsOf(pairs);
  return pairs.map((each) => found.get(each));
};
const times = <Item>(count: number, item: () => Item) => Array.from({ length: count }, item);

describe("a comparison", () => {
  const old = [10, 11, 12, 13];
  const cases: { name: string; now: number[]; better?: "lower"; want: string }[] = [
    { name: "the same again", now: [10, 11, 12, 13], want: "within noise" },
    { name: "more, but the rounds overlap", now: [13, 14, 15, 16], want: "within noise" },
    { name: "more in every round", now: [14, 15, 16, 17], want: "better" },
    { name: "less in every round", now: [6, 7, 8, 9], want: "worse" },
    { name: "more in every round of a latency", now: [14, 15, 16, 17], better: "lower", want: "worse" },
    { name: "far more, in one round", now: [99], want: "too few rounds" },
    { name: "far more, in two rounds", now: [99, 98], want: "too few rounds" },
    { name: "no rounds", now: [], want: "too few rounds" },
    { name: "rounds without an answer", now: [99, 98, 97, 96, Number.NaN], want: "better" },
    { name: "too few rounds with an answer", now: [99, 98, Number.NaN], want: "too few rounds" },
  ];
  for (const { name, now, better = "higher", want } of cases) {
    it(`of ${name}: ${want}`, () => {
      const only = { old: figure(old, { better }), now: figure(now, { better }) };
      assert.deepEqual(verdicts([only]), [want]);
    });
  }

  it("knows the chance of a mark when nothing has changed", () => {
    assert.ok(Math.abs(chanceOfSeparation(4, 4) - 2 / 70) < 1e-12);
    assert.ok(Math.abs(chanceOfSeparation(5, 5) - 2 / 252) < 1e-12);
    assert.ok(Math.abs(chanceOfSeparation(3, 5) - 2 / 56) < 1e-12);
  });

  it("counts those that are left after a mark", () => {
    // 2 / 252 is more than 5 % of seven figures and less than that of six
    const clear = pair(from(10, 9), from(30, 9));
    const apart = pair(from(10, 5), from(5, 5));
    const same = times(5, () => pair(from(10, 5), from(10, 5)));
    assert.deepEqual(verdicts([apart, clear, ...same]), [
      "worse",
      "better",
      ...times(5, () => "within noise"),
    ]);
  });

  it("is of runs of one effort", () => {
    const report = (effort: "quick" | "full") => ({ options: { effort } }) as unknown as Report;
    checkSameEffort(report("quick"), false, "old.json");
    checkSameEffort(report("full"), true, "old.json");
    assert.throws(
      () => checkSameEffort(report("full"), false, "old.json"),
      /old\.json is a full run.*add --full/,
    );
    assert.throws(
      () => checkSameEffort(report("quick"), true, "old.json"),
      /is a quick run.*leave out --full/,
    );
  });
});
