import assert from "node:assert/strict";
import { test } from "node:test";
import { watch } from "../../src/backends/process/hangs.ts";
import { FakeClock } from "../inference/fake-clock.ts";

test("a run over its time limit is reported once, and not a millisecond early", () => {
  const clock = new FakeClock();
  let told = 0;
  watch(clock, 1_001, () => {
    told += 1;
  });
  clock.advance(1_000);
  assert.equal(told, 0);
  clock.advance(1);
  assert.equal(told, 1);
  clock.advance(10_000);
  assert.deepEqual([told, clock.timerCount], [1, 0]);
});

test("a watch that has ended reports nothing and leaves no timer", () => {
  const clock = new FakeClock();
  const end = watch(clock, 1_000, () => assert.fail("told"));
  clock.advance(999);
  end();
  assert.equal(clock.timerCount, 0);
  clock.advance(1_000);
});

test("time in which this process was stopped does not count as silence of others", () => {
  const clock = new FakeClock();
  let isOver = false;
  watch(clock, 5_000, () => {
    isOver = true;
  });
  clock.stall(3_600_000);
  clock.advance(0);
  assert.equal(isOver, false);
  clock.advance(4_000);
  assert.equal(isOver, false);
  clock.advance(1_000);
  assert.equal(isOver, true);
});
