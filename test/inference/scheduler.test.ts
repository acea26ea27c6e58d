import assert from "node:assert/strict";
import { test } from "node:test";
import { invalidRequest, ServiceError } from "../../src/errors.ts";
import { Scheduler } from "../../src/inference/queue/scheduler.ts";
import { settle } from "./fake-clock.ts";
import { abortListenersOf, flatTree, outcomeOf, QueueBench, SETTINGS, scoredOf } from "./queue-bench.ts";

test("no request is admitted before the backend has started, any request afterwards", () => {
  const bench = new QueueBench();
  const scheduler = new Scheduler(bench.backend, bench.clock, SETTINGS);
  const admission = { signal: new AbortController().signal, deadlineAt: 1 };
  assert.throws(() => scheduler.admit(admission), { kind: "STARTING" });
  scheduler.fail(new Error("no model"));
  assert.throws(() => scheduler.admit(admission), { kind: "BACKEND_FAILED" });
  assert.equal(scheduler.counters().rejected, 2);
  scheduler.open();
  scheduler.admit(admission);
});

test("the queue holds exactly its capacity of requests that do not run yet", async () => {
  const bench = new QueueBench({ queueCapacity: 3 });
  const running = bench.ask(flatTree(1, 2));
  const waiting = [bench.ask(flatTree(2, 2)), bench.admit(flatTree(3, 2)), bench.ask(flatTree(4, 2))];
  assert.throws(() => bench.admit(flatTree(5, 2)), { kind: "QUEUE_FULL" });
  const before = bench.scheduler.counters();
  assert.deepEqual([before.queued, before.running, before.rejected], [3, 1, 1]);

  bench.backend.current?.answer();
  await settle();
  assert.equal(outcomeOf(running), "completed");
  const { queued, running: nowRunning } = bench.scheduler.counters();
  assert.deepEqual([queued, nowRunning], [1, 2], "the one without tokens still waits");
  assert.deepEqual(waiting.map(outcomeOf), ["open", "open", "open"]);
});

const WAYS_OUT = [
  { name: "token limits", end: "INVALID_REQUEST", leave: (_: QueueBench) => invalidRequest([]) },
  { name: "a tokenizer failure", end: "INTERNAL", leave: (_: QueueBench) => new Error("tokenizer") },
];

for (const { name, end, leave } of WAYS_OUT) {
  test(`${name} give the place back`, async () => {
    const bench = new QueueBench({ queueCapacity: 1 });
    const asked = bench.admit(flatTree(1, 2));
    asked.refuse(leave(bench));
    asked.submit();
    await settle();
    assert.equal(outcomeOf(asked), end);
    assert.equal(bench.backend.calls.length, 0);
    assert.equal(bench.scheduler.counters().failed, end === "INTERNAL" ? 1 : 0);
    bench.admit(flatTree(2, 2));
  });
}

test("a caller that disconnects while waiting is settled at once and gives its place back", async () => {
  const bench = new QueueBench({ queueCapacity: 1 });
  const asked = bench.admit(flatTree(1, 2));
  asked.caller.abort();
  asked.caller.abort();
  asked.submit();
  await settle();
  assert.equal(outcomeOf(asked), "CANCELLED");
  assert.deepEqual([bench.scheduler.counters().cancelled, bench.scheduler.counters().queued], [1, 0]);
  assert.equal(bench.backend.calls.length, 0);
});

test("a caller who has left before admission gets no place", () => {
  const bench = new QueueBench();
  const admission = { signal: AbortSignal.abort(), deadlineAt: 10 };
  assert.throws(() => bench.scheduler.admit(admission), { kind: "CANCELLED" });
  const { cancelled, rejected, queued } = bench.scheduler.counters();
  assert.deepEqual([cancelled, rejected, queued], [1, 0, 0]);
});

test("at the deadline a request is answered although its batch is still computed", async () => {
  const bench = new QueueBench({ deadlineMs: 100, cacheSize: 10 });
  const asked = bench.ask(flatTree(1, 2));
  bench.clock.advance(99);
  await settle();
  assert.equal(outcomeOf(asked), "open");
  bench.clock.advance(1);
  await settle();
  assert.equal(outcomeOf(asked), "DEADLINE_EXCEEDED");
  assert.deepEqual([bench.scheduler.counters().running, bench.scheduler.counters().timedOut], [0, 1]);

  bench.backend.current?.answer();
  await settle();
  assert.equal(asked.answers.length, 1);
  assert.equal(bench.scheduler.counters().cacheEntries, 2, "what was computed is kept");
  const again = bench.ask(flatTree(1, 2));
  await settle();
  assert.equal(scoredOf(again).cachedPairs, 2);
});

test("a late timer neither starts a batch nor completes a request past its deadline", async () => {
  const bench = new QueueBench({ deadlineMs: 100 });
  const [first, second] = [bench.ask(flatTree(1, 2)), bench.ask(flatTree(2, 2))];
  bench.clock.stall(100);
  bench.backend.current?.answer();
  await settle();
  assert.deepEqual([first, second].map(outcomeOf), ["DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"]);
  assert.equal(bench.backend.calls.length, 1);
});

test("a request whose tokens come after its deadline gets 504, not 503, also while others are computed", async () => {
  const bench = new QueueBench({ deadlineMs: 100 });
  bench.ask(flatTree(1, 2));
  const slow = bench.admit(flatTree(2, 2));
  bench.clock.stall(150);
  slow.submit();
  await settle();
  assert.equal(outcomeOf(slow), "DEADLINE_EXCEEDED");
  const { timedOut, rejected } = bench.scheduler.counters();
  assert.deepEqual([timedOut, rejected], [1, 0]);
});

const BACKEND_FAILURES = [
  ["an exception", (bench: QueueBench) => bench.backend.current?.fail()],
  ["NaN", (bench: QueueBench) => bench.backend.current?.answer(Float32Array.of(1, Number.NaN))],
  ["infinity", (bench: QueueBench) => bench.backend.current?.answer(Float32Array.of(1, 1 / 0))],
  ["a score too few", (bench: QueueBench) => bench.backend.current?.answer(Float32Array.of(1))],
  ["a score too many", (bench: QueueBench) => bench.backend.current?.answer(Float32Array.of(1, 2, 3))],
] as const;

for (const [name, fail] of BACKEND_FAILURES) {
  test(`${name} from the backend, twice, fails the request of that batch and no other`, async () => {
    const bench = new QueueBench({ cacheSize: 10 });
    const [inBatch, waiting] = [bench.ask(flatTree(1, 2)), bench.ask(flatTree(2, 2))];
    fail(bench);
    await settle();
    assert.deepEqual([inBatch, waiting].map(outcomeOf), ["open", "open"]);
    fail(bench);
    await settle();
    assert.deepEqual([inBatch, waiting].map(outcomeOf), ["BACKEND_FAILED", "open"]);
    assert.equal(bench.scheduler.counters().cacheEntries, 0);
    bench.backend.current?.answer();
    await settle();
    assert.equal(outcomeOf(waiting), "completed");
    const { completed, failed } = bench.scheduler.counters();
    assert.deepEqual([completed, failed], [1, 1]);
  });
}

test("while the backend reloads, requests wait and time out, and go on when it is ready", async () => {
  const bench = new QueueBench({ deadlineMs: 1000 });
  bench.backend.isReady = false;
  const early = bench.ask(flatTree(1, 2));
  bench.clock.advance(990);
  const late = bench.ask(flatTree(2, 2));
  bench.clock.advance(10);
  await settle();
  assert.deepEqual([early, late].map(outcomeOf), ["DEADLINE_EXCEEDED", "open"]);
  bench.backend.isReady = true;
  assert.deepEqual(bench.backend.current?.pairs, late.pairs);
});

test("while a backend cannot be restarted, no request is admitted, and waiting ones keep waiting", async () => {
  const bench = new QueueBench();
  bench.backend.isReady = false;
  const waiting = bench.ask(flatTree(1, 2));
  bench.backend.isExpected = false;
  assert.throws(() => bench.ask(flatTree(2, 2)), {
    kind: "STARTING",
    message: "The model is unavailable. It is being loaded again.", // not that it is "still loading"
  });
  assert.equal(bench.scheduler.counters().rejected, 1);
  bench.backend.isExpected = true;
  bench.backend.isReady = true;
  const later = bench.ask(flatTree(3, 2));
  for (let batch = 0; batch < 2; batch++) {
    bench.backend.current?.answer();
    await settle();
  }
  assert.deepEqual([waiting, later].map(outcomeOf), ["completed", "completed"]);
});

test("draining admits no request and resolves when all have been answered", async () => {
  const bench = new QueueBench({ batchWaitMs: 50 });
  const tokenizing = bench.admit(flatTree(1, 2));
  const waiting = bench.ask(flatTree(2, 2));
  let isDrained = false;
  const drained = bench.scheduler.drain().then(() => {
    isDrained = true;
  });
  assert.throws(() => bench.admit(flatTree(3, 2)), { kind: "DRAINING" });
  assert.equal(bench.backend.calls.length, 1, "no waiting for company that cannot come");
  bench.backend.current?.answer();
  await settle();
  assert.deepEqual([outcomeOf(waiting), isDrained], ["completed", false]);
  tokenizing.submit();
  bench.backend.current?.answer();
  await drained;
  await settle();
  assert.equal(outcomeOf(tokenizing), "completed");
  await bench.scheduler.drain(); // of an empty queue: at once
});

test("closing settles all remaining requests and leaves no timer or listener", async () => {
  const bench = new QueueBench({ batchWaitMs: 50, maxBatchTokens: 60 });
  const asked = [bench.ask(flatTree(1, 2)), bench.ask(flatTree(2, 9)), bench.admit(flatTree(3, 2))];
  bench.scheduler.close();
  bench.backend.current?.answer();
  await settle();
  for (const each of asked) {
    assert.equal(outcomeOf(each), "DRAINING");
    assert.equal(abortListenersOf(each), 0);
  }
  assert.equal(bench.clock.timerCount, 0);
  assert.equal(bench.scheduler.counters().failed, 3);
  assert.equal(bench.backend.calls.length, 1);
});

test("the cause of a backend failure is kept for the log", async () => {
  const bench = new QueueBench();
  const asked = bench.ask(flatTree(1, 2));
  const cause = new Error("segmentation fault");
  for (let attempt = 0; attempt < 2; attempt++) {
    bench.backend.current?.fail(cause);
    await settle();
  }
  const [answer] = asked.answers;
  assert.ok(answer instanceof ServiceError && answer.cause === cause);
});

const STUCK_MS = SETTINGS.deadlineMs + 30_000;

test("a batch that ends later than any may is a standstill, until work goes on", async () => {
  const bench = new QueueBench();
  bench.clock.advance(10 * STUCK_MS);
  assert.equal(bench.scheduler.isStuck(), false, "nothing is to be done");
  bench.ask(flatTree(1, 1));
  bench.clock.advance(STUCK_MS);
  assert.equal(bench.scheduler.isStuck(), false);
  bench.clock.advance(1);
  assert.equal(bench.scheduler.isStuck(), true);
  bench.backend.current?.answer();
  await settle();
  assert.equal(bench.scheduler.isStuck(), false);
});
