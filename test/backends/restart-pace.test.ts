import assert from "node:assert/strict";
import { test } from "node:test";
import { RestartPace } from "../../src/backends/onnx/process/restart-pace.ts";

test("a first restart waits for nothing, later ones longer and longer, none more than two seconds", () => {
  const pace = new RestartPace();
  const waits = Array.from({ length: 9 }, () => pace.next(500));
  assert.deepEqual(waits, [0, 100, 200, 400, 800, 1600, 2000, 2000, 2000]);
});

test("a process that has lived for a while is followed at once", () => {
  const pace = new RestartPace();
  for (const lived of [1, 9_999, 2]) pace.next(lived);
  assert.deepEqual(
    [10_000, 0, 0, 60_000].map((lived) => pace.next(lived)),
    [0, 100, 200, 0],
  );
});
