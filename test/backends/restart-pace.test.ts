import assert from "node:assert/strict";
import { test } from "node:test";
import { RestartPace } from "../../src/backends/process/child-backend.ts";

test("the first restart is immediate, later ones wait longer and longer, at most a second", () => {
  const pace = new RestartPace();
  const waits = Array.from({ length: 7 }, () => pace.next(0, 0));
  assert.deepEqual(waits, [0, 100, 200, 400, 800, 1000, 1000]);
});

test("the time that loading the model took counts", () => {
  const pace = new RestartPace();
  for (let deaths = 0; deaths < 9; deaths++) pace.next(0, 0);
  assert.deepEqual(
    [300, 999, 1000, 5000].map((sinceStart) => pace.next(0, sinceStart)),
    [700, 1, 0, 0],
  );
  assert.equal(pace.next(0, 0), 1000, "that a load took long is no sign of health");
});

test("a process that ran for a while is replaced at once", () => {
  const pace = new RestartPace();
  for (const lived of [1, 9_999, 2]) pace.next(lived, 0);
  assert.deepEqual(
    [10_000, 0, 0, 60_000].map((lived) => pace.next(lived, 0)),
    [0, 100, 200, 0],
  );
});
