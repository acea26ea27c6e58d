import assert from "node:assert/strict";
import { test } from "node:test";
import { Appointments } from "../../src/inference/queue/appointments.ts";

test("refused callers are told to come back one after another", () => {
  const appointments = new Appointments();
  const request = { lateByMs: 500, ownMs: 2_000 };
  assert.deepEqual(
    [1, 2, 3].map(() => appointments.next(0, request)),
    [1_500, 2_500, 3_500],
  );
  assert.equal(appointments.next(3_000, request), 1_500, "time goes on");
  assert.equal(appointments.next(100_000, request), 1_500, "nobody is expected any more");
});

test("Retry-After is not much longer than a minute", () => {
  const appointments = new Appointments();
  const waits = Array.from({ length: 500 }, () => appointments.next(0, { lateByMs: 0, ownMs: 2_000 }));
  assert.equal(Math.max(...waits), 61_000);
  assert.ok(waits.filter((ms) => ms <= 2_000).length > 5, "then places are given anew");
});
