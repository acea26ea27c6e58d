import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { poissonArrivals } from "../../bench/http/load.ts";
import { openLoop } from "../../bench/http/open-loop.ts";
import { Random } from "../../bench/random.ts";
import { FakeClock, settle } from "../inference/fake-clock.ts";

const { signal } = new AbortController();

/** Advances the clock in steps, so that answers arrive in between. */
async function advance(clock: FakeClock, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 10) {
    clock.advance(10);
    await settle();
  }
}

/** A server that answers one request at a time, each after `serviceMs`, and stands still for a while. */
function slowServer(clock: FakeClock, serviceMs: number, stall = { from: 0, to: 0 }) {
  let freeAt = 0;
  return () => {
    const begin = Math.max(clock.now(), freeAt);
    const isStalled = begin >= stall.from && begin < stall.to;
    freeAt = (isStalled ? stall.to : begin) + serviceMs;
    return new Promise<{ status: number; fault: undefined }>((resolve) => {
      clock.after(freeAt - clock.now(), () => resolve({ status: 200, fault: undefined }));
    });
  };
}

describe("the open loop", () => {
  const everyTenMs = Array.from({ length: 100 }, (_, i) => 10 * i);

  it("counts a stall of the server in every request that it delayed", async () => {
    const clock = new FakeClock();
    const send = slowServer(clock, 1, { from: 200, to: 700 });
    const loop = openLoop({ arrivalsMs: everyTenMs, send, clock, patienceMs: 10_000, signal });
    await advance(clock, 2000);
    const { tally } = await loop;
    assert.deepEqual(tally.counts(), { statuses: { 200: 100 }, failures: {} });
    const { p50, max } = tally.latency();
    // requests meant for 200 .. 690 ms wait for 700 ms: half of all, the first of them for half a second. A loop that
    // waits for its answers would have sent one of them, and its median would be a millisecond.
    assert.ok(max !== null && max > 490 && max < 515, `longest ${max}`);
    assert.ok(p50 !== null && p50 >= 10, `median ${p50}`);
  });

  it("counts from the intended time when this process itself was late", async () => {
    const clock = new FakeClock();
    const loop = openLoop({
      arrivalsMs: [0, 10, 20, 30],
      send: slowServer(clock, 0),
      clock,
      patienceMs: 1000,
      signal,
    });
    clock.stall(300); // the timers could not fire
    await advance(clock, 400);
    const { tally } = await loop;
    const { count, curve } = tally.latency();
    assert.equal(count, 4);
    const least = curve.find(({ percentile }) => percentile === 50)?.ms ?? 0;
    assert.ok(least >= 270, `sent at once, but meant for long ago: ${least}`);
  });

  it("sends on time, whatever becomes of the earlier ones", async () => {
    const clock = new FakeClock();
    const sentAt: number[] = [];
    const send = (index: number) => {
      sentAt[index] = clock.now();
      return new Promise<never>(() => {}); // never answers
    };
    const loop = openLoop({ arrivalsMs: [0, 100, 200], send, clock, patienceMs: 500, signal });
    await advance(clock, 1000);
    const { tally } = await loop;
    assert.deepEqual(sentAt, [0, 100, 200]);
    assert.equal(tally.latency().count, 0);
    assert.deepEqual(tally.counts().failures, { "no answer in time": 3 });
  });

  it("counts requests that fail and answers that are wrong, apart from refusals, and times none of them", async () => {
    const clock = new FakeClock();
    const statuses = [0, 200, 503, 504, 500, 401];
    const send = async (index: number) => {
      const status = statuses[index] ?? 0;
      if (status === 0) throw new Error("connection refused");
      return { status, fault: status === 200 ? undefined : `status ${status} instead of 200` };
    };
    const arrivalsMs = statuses.map((_, index) => 10 * index);
    const loop = openLoop({ arrivalsMs, send, clock, patienceMs: 500, signal });
    await advance(clock, 100);
    const { tally } = await loop;
    assert.equal(tally.latency().count, 1);
    assert.deepEqual(tally.counts(), {
      statuses: { 200: 1, 401: 1, 500: 1, 503: 1, 504: 1 },
      failures: {
        "connection refused": 1,
        "status 401 instead of 200": 1,
        "status 500 instead of 200": 1,
      },
    });
  });
});

describe("arrivals", () => {
  it("come at the rate that was asked for, in time, and the same for a seed", () => {
    const limits = { ms: 100_000, count: 1_000_000 };
    const arrivals = poissonArrivals(new Random(1, "x"), 50, limits);
    assert.ok(Math.abs(arrivals.length - 5000) < 300, String(arrivals.length));
    assert.ok(arrivals.every((at, i) => at >= (arrivals[i - 1] ?? 0) && at < limits.ms));
    assert.deepEqual(poissonArrivals(new Random(1, "x"), 50, limits), arrivals);
    assert.notDeepEqual(poissonArrivals(new Random(2, "x"), 50, limits), arrivals);
  });
});
