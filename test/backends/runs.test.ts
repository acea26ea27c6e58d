import assert from "node:assert/strict";
import { test } from "node:test";
import { Runs } from "../../src/backends/process/hangs.ts";
import { failure } from "../../src/backends/process/inference-process.ts";
import { FakeClock, settle } from "../inference/fake-clock.ts";

const HANG_MS = 65_000;

/** Runs of a process whose answers the test controls. */
class Bench {
  readonly clock = new FakeClock();
  readonly budgets: number[] = [];
  readonly sent: number[] = [];
  readonly runs = new Runs({
    clock: this.clock,
    hangMs: HANG_MS,
    onHang: (budgetMs) => this.budgets.push(budgetMs),
  });

  /** @returns the number of a run that has been sent */
  send(tokens: number): number {
    this.runs.add(tokens, (id) => this.sent.push(id)).catch(() => {});
    return this.sent.at(-1) ?? Number.NaN;
  }

  /** Completes some runs of this duration. @param cachedTokens cached tokens */
  measure(tokens: number, ms: number, cachedTokens = 0): void {
    for (let run = 0; run < 3; run++) {
      const id = this.send(tokens);
      this.clock.advance(ms);
      this.runs.scored(id, { scores: new Float32Array(1), forwards: 1, cachedTokens });
    }
  }

  /** A run that never ends. @returns its budget */
  hang(tokens: number): number {
    this.send(tokens);
    const before = this.budgets.length;
    for (let ms = 0; this.budgets.length === before && ms < HANG_MS; ms += 100) this.clock.advance(100);
    this.runs.failAll(failure("killed"));
    return Math.round(this.budgets.at(-1) ?? Number.NaN);
  }
}

test("a run's time limit is ten times that of earlier runs of its size, at least five seconds, at most the general limit", () => {
  for (const [took, budget] of [
    [10, 5_000],
    [500, 5_000],
    [700, 7_000],
    [20_000, HANG_MS],
  ] as const) {
    const bench = new Bench();
    bench.measure(1_000, took);
    bench.send(1_000);
    bench.clock.advance(budget - 1);
    assert.deepEqual(bench.budgets, []);
    bench.clock.advance(1);
    assert.deepEqual(bench.budgets.map(Math.round), [budget]);
  }
});

test("a larger run has more time, in proportion to its tokens", () => {
  const bench = new Bench();
  bench.measure(1_000, 1_000);
  bench.send(4_000);
  bench.clock.advance(39_999);
  assert.deepEqual(bench.budgets, []);
  bench.clock.advance(1);
  assert.deepEqual(bench.budgets.map(Math.round), [40_000]);
});

test("without measurements, a run has the general time limit", () => {
  const bench = new Bench();
  bench.send(100);
  bench.clock.advance(HANG_MS - 1);
  assert.deepEqual(bench.budgets, []);
  bench.clock.advance(1);
  assert.deepEqual(bench.budgets, [HANG_MS]);
});

test("a run that waits for another has its time from when that one has ended", () => {
  const bench = new Bench();
  bench.measure(100, 10);
  const first = bench.send(100);
  bench.send(100);
  bench.clock.advance(4_000);
  bench.runs.scored(first, { scores: new Float32Array(1), forwards: 1 });
  bench.clock.advance(4_999);
  assert.deepEqual(bench.budgets, []);
  bench.clock.advance(1);
  assert.equal(bench.budgets.length, 1);
});

test("a process with cached states gets enough time for a state that it must compute", () => {
  const bench = new Bench();
  bench.measure(1_000, 1_000, 900); // 100 tokens computed in a second
  assert.equal(bench.hang(200), 20_000);
});

test("after each kill a run of that size or more has twice as long, until one ends in its usual time", () => {
  const bench = new Bench();
  bench.measure(1_000, 700);
  assert.deepEqual([bench.hang(1_000), bench.hang(1_000)], [7_000, 14_000]);
  assert.equal(bench.hang(100), 5_000, "a much smaller one has no more than before");
  const slow = bench.send(1_000);
  bench.clock.advance(20_000);
  assert.equal(bench.budgets.length, 3, "a model that has become slower is not killed again");
  bench.runs.scored(slow, { scores: new Float32Array(1), forwards: 1 });
  assert.equal(bench.hang(1_000), HANG_MS, "it took longer than usual: patience stays");
  bench.measure(1_000, 700);
  const budget = bench.hang(1_000);
  assert.ok(budget < 20_000, `${budget}: runs that end in time end the patience`);
});

test("every run is settled once, and no timer stays behind", async () => {
  const { clock, runs } = new Bench();
  const ids: number[] = [];
  const ends: string[] = [];
  for (let run = 0; run < 4; run++) {
    runs
      .add(100, (id) => ids.push(id))
      .then(
        ({ forwards }) => ends.push(`${forwards} forwards`),
        (error) => ends.push(error.message),
      );
  }
  const [first = 0, second = 0] = ids;
  runs.failed(second, failure("not sent"));
  runs.scored(first, { scores: new Float32Array(1), forwards: 7 });
  runs.failAll(failure("ended"));
  runs.scored(first, { scores: new Float32Array(1), forwards: 8 });
  await settle();
  assert.deepEqual(ends.sort(), ["7 forwards", "ended", "ended", "not sent"]);
  assert.deepEqual([runs.isEmpty, clock.timerCount], [true, 0]);
});
