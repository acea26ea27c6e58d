import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { measurement, quantile, slope } from "../../bench/measure/statistics.ts";
import { Tally } from "../../bench/measure/tally.ts";

describe("statistics of rounds", () => {
  const cases: { values: number[]; share: number; want: number }[] = [
    { values: [3], share: 0.25, want: 3 },
    { values: [4, 1, 3, 2], share: 0.5, want: 2.5 },
    { values: [4, 1, 3, 2], share: 0.25, want: 1.75 },
    { values: [1, 2, 3, 4, 5], share: 0.75, want: 4 },
    { values: [1, 2, 3, 4, 5], share: 0, want: 1 },
    { values: [1, 2, 3, 4, 5], share: 1, want: 5 },
  ];
  for (const { values, share, want } of cases) {
    it(`the ${share} quantile of ${values} is ${want}`, () => assert.equal(quantile(values, share), want));
  }

  it("give the spread of known data", () => {
    const facts = { name: "", title: "", unit: "ms", better: "lower" } as const;
    const { value, spread } = measurement(facts, [5, 1, 4, Number.NaN, 2, 3]);
    assert.deepEqual(spread, { median: 3, q1: 2, q3: 4, min: 1, max: 5, count: 5 });
    assert.equal(value, 3);
  });

  it("find a growth and none", () => {
    const points = [0, 1, 2, 3].map((x) => ({ x, y: 7 + 2.5 * x }));
    assert.ok(Math.abs(slope(points) - 2.5) < 1e-12);
    assert.equal(slope([{ x: 1, y: 1 }]), 0);
  });
});

describe("latencies", () => {
  const upTo = (count: number) => {
    const latencies = new Tally();
    for (let ms = 1; ms <= count; ms++) latencies.record(ms);
    return latencies.latency();
  };
  const isNear = (got: number | null, want: number) =>
    assert.ok(got !== null && Math.abs(got - want) <= want * 1e-3, `${got} is not ${want}`);

  it("give the percentiles of known data within three digits", () => {
    const { count, p50, p90, p99, p999, max } = upTo(1000);
    assert.equal(count, 1000);
    isNear(p50, 500);
    isNear(p90, 900);
    isNear(p99, 990);
    isNear(p999, 999);
    isNear(max, 1000);
  });

  it("give no percentile that fewer than one request lies beyond", () => {
    const { p50, p90, p99, p999, curve } = upTo(50);
    assert.deepEqual([p50 !== null, p90 !== null, p99, p999], [true, true, null, null]);
    assert.ok(curve.every(({ percentile }) => percentile <= 98));
    const { p50: none, max } = new Tally().latency();
    assert.deepEqual([none, max], [null, null]);
  });

  it("of several rounds are those of all their requests", () => {
    const [all, more] = [new Tally(), new Tally()];
    for (let ms = 1; ms <= 10; ms++) (ms % 2 === 0 ? all : more).record(ms);
    all.add(more);
    assert.equal(all.latency().count, 10);
    isNear(all.latency().p50, 5);
  });
});
