import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chanceOfSeparation, judge } from "../../bench/report/compare.ts";
import { figure } from "./measurements.ts";

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
  ];
  for (const { name, now, better = "higher", want } of cases) {
    it(`of ${name}: ${want}`, () =>
      assert.equal(judge(figure(old, { better }), figure(now, { better })), want));
  }

  it("knows the chance of a mark when nothing has changed", () => {
    assert.ok(Math.abs(chanceOfSeparation(4, 4) - 2 / 70) < 1e-12);
    assert.ok(Math.abs(chanceOfSeparation(5, 5) - 2 / 252) < 1e-12);
    assert.ok(Math.abs(chanceOfSeparation(3, 5) - 2 / 56) < 1e-12);
  });
});
