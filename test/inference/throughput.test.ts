import assert from "node:assert/strict";
import { test } from "node:test";
import { Throughput } from "../../src/inference/throughput.ts";

function throughputOf(batches: readonly (readonly [tokens: number, ms: number])[]): Throughput {
  const throughput = new Throughput();
  for (const [tokens, ms] of batches) throughput.record(tokens, ms);
  return throughput;
}

const repeat = (count: number, tokens: number, ms: number) =>
  Array.from({ length: count }, () => [tokens, ms] as const);

test("there is an estimate after three batches, of which the first does not count", () => {
  assert.equal(throughputOf(repeat(2, 100, 10)).msFor(100), undefined);
  const ms = throughputOf([[100, 3000], ...repeat(2, 100, 10)]).msFor(1_000);
  assert.ok(ms !== undefined && Math.abs(ms - 100) < 1e-6, `${ms}`);
});

test("it follows a machine that becomes slower or faster within some batches", () => {
  for (const ms of [500, 20]) {
    const throughput = throughputOf([...repeat(100, 1_000, 100), ...repeat(40, 1_000, ms)]);
    const expected = throughput.msFor(1_000) ?? 0;
    assert.ok(Math.abs(expected / ms - 1) < 0.1, `${expected} for ${ms}`);
  }
});

test("large batches count more than small ones, and one that took a minute does not count for long", () => {
  const mixed = throughputOf([...repeat(50, 2_000, 200), ...repeat(5, 40, 40)]).msFor(1_000) ?? 0;
  assert.ok(mixed < 150, `${mixed}`);
  const stopped = throughputOf([...repeat(50, 1_000, 100), [1_000, 60_000], ...repeat(10, 1_000, 100)]);
  const after = stopped.msFor(1_000) ?? 0;
  assert.ok(after < 150, `${after}`);
});

test("invalid measurements are skipped", () => {
  const invalid = [
    [0, 10],
    [-1, 10],
    [10, Number.NaN],
    [Number.NaN, 10],
  ] as const;
  assert.equal(throughputOf(invalid).msFor(10), undefined);
});
