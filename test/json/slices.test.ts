import assert from "node:assert/strict";
import { it } from "node:test";
import { runAtOnce, runSliced, type Steps } from "../../src/json/slices.ts";

function* count(steps: number, onStep: () => void): Steps<string> {
  for (let step = 0; step < steps; step++) {
    onStep();
    yield;
  }
  return "done";
}

/** A clock that a computation moves on itself. */
function fakeClock() {
  let time = 0;
  let pauses = 0;
  const clock = {
    now: () => time,
    pause: async () => {
      pauses += 1;
    },
  };
  const pass = (ms: number) => () => {
    time += ms;
  };
  return { clock, pass, pauses: () => pauses };
}

it("work shorter than a slice runs without a pause", async () => {
  const { clock, pass, pauses } = fakeClock();
  assert.equal(await runSliced(count(3, pass(1)), clock), "done");
  assert.equal(pauses(), 0);
});

it("work pauses as soon as 4 ms have passed", async () => {
  const { clock, pass, pauses } = fakeClock();
  await runSliced(count(100, pass(1)), clock);
  assert.equal(pauses(), 25);
});

it("what a step throws rejects the promise", async () => {
  const failing = count(1, () => {
    throw new RangeError("step");
  });
  await assert.rejects(runSliced(failing), RangeError);
});

it("running at once gives the same result", () => assert.equal(runAtOnce(count(5, () => {})), "done"));

it("computations that wait take turns, and the event loop turns between their slices", async () => {
  const order: string[] = [];
  const busy = (name: string) =>
    count(3, () => {
      order.push(name);
      const start = performance.now();
      while (performance.now() - start < 4);
    });
  let turns = 0;
  const ticking = setInterval(() => {
    turns += 1;
  }, 0);
  await Promise.all([runSliced(busy("a")), runSliced(busy("b"))]);
  clearInterval(ticking);
  assert.deepEqual(order, ["a", "b", "a", "b", "a", "b"]);
  assert.ok(turns >= 2, `${turns} turns of the timers`);
});
