import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Measurement, measurement } from "../../bench/measure/statistics.ts";
import { checkSameEffort, compareReports } from "../../bench/report/compare.ts";
import type { Report } from "../../bench/report/report.ts";

type Facts = Pick<Measurement, "better" | "unit">;

/** A report with a figure for each list of rounds. */
function reportOf(figures: readonly (readonly number[])[], facts: Partial<Facts> = {}, cpu = "a"): Report {
  const measurements = figures.map((rounds, at) =>
    measurement({ name: `figure ${at}`, title: "", unit: "ms", better: "higher", ...facts }, rounds),
  );
  const machine = { cpu, usableProcessors: 1, flags: [] };
  return { machine, http: null, memory: { measurements } } as unknown as Report; // what a comparison reads
}
const verdicts = (old: Report, now: Report) => compareReports(old, now).map(({ verdict }) => verdict);
const times = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item);

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
      assert.deepEqual(verdicts(reportOf([old], { better }), reportOf([now], { better })), [want]);
    });
  }

  it("marks no figure by a chance that one of so many has", () => {
    const [before, after] = [
      [1, 2, 3, 4, 5],
      [6, 7, 8, 9, 10],
    ]; // 2 / 252 is more than 5 % of seven figures and less than that of six
    const six = times(6, before);
    assert.deepEqual(verdicts(reportOf(six), reportOf([after, ...six.slice(1)])), [
      "better",
      ...times(5, "within noise"),
    ]);
    assert.deepEqual(
      verdicts(reportOf([...six, before]), reportOf(times(7, after))),
      times(7, "too few rounds"),
    );
    // one round can never be marked, and does not count
    assert.deepEqual(
      verdicts(reportOf([...six, [1]]), reportOf([...times(6, after), [9]])).slice(0, 6),
      times(6, "better"),
    );
  });

  it("of two machines marks ratios alone", () => {
    const [before, after] = [[old], [[14, 15, 16, 17]]];
    assert.deepEqual(verdicts(reportOf(before), reportOf(after, {}, "b")), ["another machine"]);
    assert.deepEqual(verdicts(reportOf(before), reportOf(after, { unit: "x" }, "b")), ["better"]);
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
