import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { it } from "node:test";
import { runSliced, type Steps } from "../../src/json/slices.ts";

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
  assert.equal(await runSliced(count(3, pass(1)), { clock }), "done");
  assert.equal(pauses(), 0);
});

it("work pauses as soon as 4 ms have passed", async () => {
  const { clock, pass, pauses } = fakeClock();
  await runSliced(count(100, pass(1)), { clock });
  assert.equal(pauses(), 25 + 1); // and what follows begins in a turn of its own
});

it("what a step throws rejects the promise", async () => {
  const failing = count(1, () => {
    throw new RangeError("step");
  });
  await assert.rejects(runSliced(failing), RangeError);
});

/** Takes `slices` slices and notes its name at the beginning of each. */
function busy(name: string, slices: number, order: string[]): Steps<string> {
  return count(slices, () => {
    order.push(name);
    const start = performance.now();
    while (performance.now() - start < 4);
  });
}

it("long computations run one after the other, and the event loop turns between their slices", async () => {
  const order: string[] = [];
  let turns = 0;
  const ticking = setInterval(() => {
    turns += 1;
  }, 0);
  await Promise.all([runSliced(busy("a", 3, order)), runSliced(busy("b", 3, order))]);
  clearInterval(ticking);
  assert.deepEqual(order, ["a", "b", "a", "a", "b", "b"]);
  assert.ok(turns >= 2, `${turns} turns of the timers`);
});

it("a continuation goes before computations that have only begun", async () => {
  const order: string[] = [];
  await Promise.all([
    runSliced(busy("a", 2, order)),
    runSliced(busy("b", 2, order)),
    runSliced(busy("c", 2, order), { isContinuation: true }),
  ]);
  assert.deepEqual(order, ["a", "b", "c", "a", "c", "b"]);
});

it("a computation that fails lets the next one run", async () => {
  const broken = (function* (): Steps<string> {
    yield* busy("broken", 2, []);
    throw new RangeError("step");
  })();
  const [first, second] = await Promise.allSettled([runSliced(broken), runSliced(busy("next", 2, []))]);
  assert.deepEqual([first.status, second.status], ["rejected", "fulfilled"]);
});

it("work for somebody who has left ends before its next slice, and the line moves on", async () => {
  const order: string[] = [];
  const leaving = new AbortController();
  const gone = runSliced(busy("gone", 5, order), { signal: leaving.signal });
  const next = runSliced(busy("next", 2, order));
  leaving.abort();
  await assert.rejects(gone, { name: "ServiceError", kind: "CANCELLED" });
  assert.equal(await next, "done");
  assert.deepEqual(order, ["gone", "next", "next"]);
});

it("computations known to be long have their first slice in line, too, in order of arrival; short work overtakes them", async () => {
  const order: string[] = [];
  const isLong = true;
  const all = ["a", "b", "c"].map((name) => runSliced(busy(name, 2, order), { isLong }));
  await runSliced(count(1, () => order.push("short")));
  await Promise.all(all);
  assert.deepEqual(order, ["short", "a", "a", "b", "b", "c", "c"]);
});

it("a caller that aborts while waiting is settled at once, costs nothing and leaves no listener", async () => {
  const order: string[] = [];
  const isLong = true;
  const [leaving, staying] = [new AbortController(), new AbortController()];
  const first = runSliced(busy("first", 30, order), { isLong });
  const gone = runSliced(busy("gone", 2, order), { isLong, signal: leaving.signal });
  const next = runSliced(busy("next", 1, order), { isLong, signal: staying.signal });
  leaving.abort();
  await assert.rejects(gone, { name: "ServiceError", kind: "CANCELLED" });
  assert.ok(order.length < 30, "before the first has ended");
  await Promise.all([first, next]);
  assert.deepEqual(new Set(order), new Set(["first", "next"]));
  for (const { signal } of [leaving, staying]) assert.equal(getEventListeners(signal, "abort").length, 0);
  assert.equal(await runSliced(busy("last", 2, order), { isLong }), "done", "the line is not blocked");
});

it("who has left before gets into no line", async () => {
  const order: string[] = [];
  const options = { isLong: true, signal: AbortSignal.abort() };
  await assert.rejects(runSliced(busy("gone", 1, order), options), { kind: "CANCELLED" });
  assert.deepEqual(order, []);
});
