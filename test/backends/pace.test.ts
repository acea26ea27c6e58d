import assert from "node:assert/strict";
import { test } from "node:test";
import { Pace } from "../../src/backends/process/pace.ts";

function paceOf(runs: readonly (readonly [tokens: number, ms: number])[]): Pace {
  const pace = new Pace();
  for (const [tokens, ms] of runs) pace.record(tokens, ms);
  return pace;
}

test("nothing is expected before three runs of one size have ended", () => {
  const pace = new Pace();
  assert.equal(pace.expectedMs(100), undefined);
  pace.record(100, 10);
  pace.record(100, 10);
  pace.record(1000, 50);
  assert.equal(pace.expectedMs(100), undefined);
  pace.record(100, 10);
  assert.equal(pace.expectedMs(100), 10);
});

test("a batch is expected to take as long as others of about its size, in proportion to its tokens", () => {
  const pace = paceOf([
    ...Array.from({ length: 5 }, () => [40, 8] as const),
    ...Array.from({ length: 5 }, () => [4000, 400] as const),
  ]);
  assert.equal(pace.expectedMs(40), 8);
  assert.equal(pace.expectedMs(60), 12);
  assert.equal(pace.expectedMs(4000), 400);
  assert.equal(pace.expectedMs(400_000), 40_000, "more than any batch has: as the largest ones");
  assert.equal(pace.expectedMs(1), 0.2);
});

test("a slow first run and single outliers do not move it", () => {
  const pace = paceOf([
    [100, 3000], // a process that has just started
    [100, 10],
    [100, 12],
    [100, 60_000], // it was stopped for a minute
    [100, 11],
    [100, 0],
    [100, 10],
  ]);
  assert.equal(pace.expectedMs(100), 11);
});

test("it follows a machine that becomes slower or faster, also for sizes that no longer come", () => {
  const pace = new Pace();
  const run = (tokens: number, ms: number) => {
    for (let count = 0; count < 150; count++) pace.record(tokens, ms);
  };
  run(1000, 100);
  run(100, 10);
  assert.equal(pace.expectedMs(1000), 100);
  run(100, 50);
  assert.equal(pace.expectedMs(100), 50);
  assert.equal(pace.expectedMs(1000), 500, "the runs of this size are too old");
  run(100, 5);
  assert.equal(pace.expectedMs(100), 5);
});

test("invalid measurements are skipped", () => {
  const pace = paceOf([
    [0, 10],
    [-1, 10],
    [10, Number.NaN],
    [Number.NaN, 10],
  ]);
  assert.equal(pace.expectedMs(10), undefined);
});
