import assert from "node:assert/strict";
import { test } from "node:test";
import { queueErrors } from "../../src/inference/queue/ticket.ts";
import { BodyBudget } from "../../src/server/wire/bodies.ts";

/** A budget of 100 bytes, and reservations that note who had to give way. */
function makeBench() {
  const budget = new BodyBudget(100);
  const gone: string[] = [];
  const reserve = (name: string, bytes: number) => {
    const reservation = budget.reserve((reason) => gone.push(`${name}: ${reason.kind}`));
    reservation.grow(bytes);
    return reservation;
  };
  return { budget, gone, reserve };
}

test("as many bytes as the budget are under way without anybody giving way", () => {
  const { gone, reserve } = makeBench();
  reserve("a", 60);
  reserve("b", 39).grow(1);
  assert.deepEqual(gone, []);
});

test("the incomplete body that has been silent longest is evicted, and its bytes are free at once", () => {
  const { gone, reserve } = makeBench();
  const first = reserve("first", 30);
  reserve("second", 30);
  first.grow(30); // heard again: now the second is silent for longest
  reserve("third", 30);
  assert.deepEqual(gone, ["second: QUEUE_FULL"]);
  reserve("fourth", 10);
  assert.deepEqual(gone, ["second: QUEUE_FULL"]);
});

test("as many give way as are needed", () => {
  const { gone, reserve } = makeBench();
  reserve("a", 40);
  reserve("b", 40);
  reserve("c", 90);
  assert.deepEqual(gone, ["a: QUEUE_FULL", "b: QUEUE_FULL"]);
});

test("a complete body is never evicted: a new one is refused and takes no memory", () => {
  const { gone, reserve } = makeBench();
  const whole = reserve("whole", 90);
  whole.complete();
  const growing = reserve("growing", 5);
  assert.throws(() => growing.grow(6), { kind: "QUEUE_FULL" });
  reserve("small", 10);
  assert.deepEqual(gone, []);
  whole.release();
  reserve("large", 90);
  assert.deepEqual(gone, []);
});

test("no body is evicted in vain: if all of them would not free enough, only the new one is refused", () => {
  const { gone, reserve } = makeBench();
  reserve("whole", 70).complete();
  reserve("silent", 20);
  const growing = reserve("growing", 5);
  assert.throws(() => growing.grow(30), { kind: "QUEUE_FULL" });
  assert.deepEqual(gone, []);
  reserve("small", 30);
  assert.deepEqual(gone, ["silent: QUEUE_FULL"]);
});

test("after closing, every incomplete body is evicted, also one without any bytes", () => {
  const { budget, gone, reserve } = makeBench();
  reserve("whole", 10).complete();
  reserve("half", 10);
  budget.reserve((reason) => gone.push(`expected: ${reason.kind}`));
  budget.close(queueErrors.draining());
  assert.deepEqual(gone, ["half: DRAINING", "expected: DRAINING"]);
  assert.throws(() => reserve("late", 1), { kind: "DRAINING" });
});

test("bytes that are given back twice are given back once", () => {
  const { gone, reserve } = makeBench();
  const first = reserve("first", 60);
  first.complete();
  first.release();
  first.release();
  reserve("second", 60);
  reserve("third", 60);
  assert.deepEqual(gone, ["second: QUEUE_FULL"]);
});
