import assert from "node:assert/strict";
import { test } from "node:test";
import { Heartbeat } from "../../src/backends/process/hangs.ts";
import { FakeClock } from "../inference/fake-clock.ts";

/** A heartbeat whose process answers when the test says so. */
class Bench {
  readonly clock = new FakeClock();
  readonly events: string[] = [];
  isIdle = true;
  readonly heartbeat = new Heartbeat(this.clock, {
    isIdle: () => this.isIdle,
    ping: () => this.events.push("ping"),
    onBack: () => this.events.push("back"),
    onDead: () => this.events.push("dead"),
  });

  constructor() {
    this.heartbeat.start();
  }
}

test("an idle process is asked every second and stays alive while it answers", () => {
  const { clock, events, heartbeat } = new Bench();
  for (let second = 0; second < 60; second++) {
    clock.advance(1_000);
    heartbeat.answered();
  }
  assert.deepEqual(new Set(events), new Set(["ping"]));
  assert.equal(events.length, 60);
});

test("one that does not answer is silent after two seconds and dead after five, and is asked only once", () => {
  const { clock, events, heartbeat } = new Bench();
  clock.advance(2_999);
  assert.equal(heartbeat.isSilent, false);
  clock.advance(1);
  assert.equal(heartbeat.isSilent, true);
  clock.advance(2_999);
  assert.deepEqual(events, ["ping"]);
  clock.advance(1);
  assert.deepEqual(events, ["ping", "dead"]);
});

test("one that answers late is back, and is asked again", () => {
  const { clock, events, heartbeat } = new Bench();
  clock.advance(5_999);
  heartbeat.answered();
  assert.equal(heartbeat.isSilent, false);
  clock.advance(1_000);
  assert.deepEqual(events, ["ping", "back", "ping"]);
});

test("a computing process gets no new heartbeat but must answer the previous one", () => {
  const bench = new Bench();
  bench.isIdle = false;
  bench.clock.advance(60_000);
  assert.deepEqual(bench.events, []);
  bench.isIdle = true;
  bench.clock.advance(1_000);
  bench.isIdle = false;
  bench.clock.advance(2_000);
  assert.equal(bench.heartbeat.isSilent, true);
});

test("a stopped heartbeat leaves no timer and can be restarted", () => {
  const { clock, events, heartbeat } = new Bench();
  clock.advance(4_000);
  heartbeat.stop();
  assert.deepEqual([heartbeat.isSilent, clock.timerCount], [false, 0]);
  heartbeat.start();
  clock.advance(1_000);
  assert.deepEqual(events, ["ping", "ping"]);
});
