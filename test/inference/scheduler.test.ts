import assert from "node:assert/strict";
import { test } from "node:test";
import { invalidRequest, ServiceError } from "../../src/errors.ts";
import { Scheduler } from "../../src/inference/scheduler.ts";
import { settle } from "./fake-clock.ts";
import { abortListenersOf, flatTree, outcomeOf, QueueBench, SETTINGS, scoredOf } from "./queue-bench.ts";
import { makeTree, scoreOf } from "./scripted-backend.ts";

test("before the backend has started nobody gets a place, afterwards anybody does", () => {
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

test("a caller who leaves while waiting is answered at once and gives the place back", async () => {
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

test("a request larger than the budget is split, and its state is paid for once", async () => {
  const bench = new QueueBench({ maxBatchTokens: 100 });
  const asked = bench.ask(flatTree(1, 10, 20)); // 10 + 10 + 10 * 20 tokens
  for (let batch = 0; batch < 3; batch++) {
    bench.backend.current?.answer();
    await settle();
  }
  assert.deepEqual(
    bench.backend.calls.map(({ pairs }) => pairs.length),
    [4, 4, 2], // 10 + 10 + 4 * 20; then 10 + 4 * 20 <= 100
  );
  const scored = scoredOf(asked);
  assert.deepEqual([...(scored.scores[0] ?? [])], asked.pairs.map(scoreOf));
  assert.equal(scored.inputTokens, 10 * 40);
  assert.deepEqual([bench.scheduler.counters().batches, bench.scheduler.counters().forwards], [3, 3]);
});

test("a pair that passes the budget alone is a batch", async () => {
  const bench = new QueueBench({ maxBatchTokens: 8 });
  const asked = bench.ask(flatTree(1, 2));
  bench.backend.current?.answer();
  await settle();
  bench.backend.current?.answer();
  await settle();
  assert.equal(outcomeOf(asked), "completed");
  assert.deepEqual(
    bench.backend.calls.map(({ pairs }) => pairs.length),
    [1, 1],
  );
});

test("work of a request that has ended is not sent", async () => {
  const bench = new QueueBench({ maxBatchTokens: 100 });
  const long = bench.ask(flatTree(1, 50));
  const gone = bench.ask(flatTree(2, 2));
  const stays = bench.ask(flatTree(3, 2));
  long.caller.abort();
  gone.caller.abort();
  bench.backend.current?.answer();
  await settle();
  bench.backend.current?.answer();
  await settle();
  assert.deepEqual([long, gone, stays].map(outcomeOf), ["CANCELLED", "CANCELLED", "completed"]);
  assert.deepEqual(bench.backend.calls[1]?.pairs, stays.pairs);
  assert.equal(bench.backend.calls.length, 2);
});

test("a 40-token request behind one of 256 pairs is in the very next batch", async () => {
  const bench = new QueueBench({ maxBatchTokens: 400 });
  const long = bench.ask(flatTree(1, 256));
  const short = bench.ask(flatTree(2, 2, 10));
  bench.backend.current?.answer();
  await settle();
  const next = bench.backend.current;
  assert.ok(short.pairs.every((pair) => next?.pairs.includes(pair)));
  assert.ok(
    long.pairs.some((pair) => next?.pairs.includes(pair)),
    "the long one goes on beside it",
  );
  next?.answer();
  await settle();
  assert.deepEqual([outcomeOf(short), outcomeOf(long)], ["completed", "open"]);
});

test("an idle queue waits for company until the first request has waited batchWaitMs", async () => {
  const bench = new QueueBench({ batchWaitMs: 5 });
  bench.ask(flatTree(1, 2));
  bench.clock.advance(4);
  bench.ask(flatTree(2, 2));
  assert.equal(bench.backend.calls.length, 0);
  bench.clock.advance(1);
  assert.equal(bench.backend.calls[0]?.pairs.length, 4);
});

const REASONS_NOT_TO_WAIT = [
  { name: "the token budget is reached", settings: { maxBatchTokens: 60 }, ask: [flatTree(1, 2)] },
  {
    name: "enough requests are there",
    settings: { maxBatchRequests: 2 },
    ask: [flatTree(1, 2), flatTree(2, 2)],
  },
  { name: "company is not wanted (strict)", settings: { strict: true }, ask: [flatTree(1, 2)] },
];

for (const { name, settings, ask } of REASONS_NOT_TO_WAIT) {
  test(`nobody waits for company when ${name}`, () => {
    const bench = new QueueBench({ batchWaitMs: 5, ...settings });
    for (const tree of ask) bench.ask(tree);
    assert.equal(bench.backend.calls.length, 1);
  });
}

test("a long request does not wait for company between its batches", async () => {
  const bench = new QueueBench({ batchWaitMs: 5, maxBatchTokens: 70 });
  bench.ask(flatTree(1, 3));
  bench.backend.current?.answer();
  await settle();
  assert.equal(bench.backend.calls.length, 2);
});

test("equal pairs of one batch are computed once and charged to the first", async () => {
  const bench = new QueueBench();
  bench.ask(flatTree(9, 2));
  const twins = [bench.ask(flatTree(1, 3)), bench.ask(flatTree(1, 3))];
  const node = { id: 5, length: 4 };
  const own = bench.ask(makeTree(node, [{ question: node, candidates: [node, node, { id: 6, length: 4 }] }]));
  bench.backend.current?.answer();
  await settle();
  assert.equal(bench.backend.current?.pairs.length, 5);
  bench.backend.current?.answer();
  await settle();
  assert.deepEqual(
    [...twins, own].map((asked) => [scoredOf(asked).inputTokens, scoredOf(asked).cachedPairs]),
    [
      [3 * 40, 0],
      [0, 3],
      [2 * 12, 1],
    ],
  );
  for (const asked of [...twins, own]) {
    assert.deepEqual([...(scoredOf(asked).scores[0] ?? [])], asked.pairs.map(scoreOf));
  }
});

test("requests with the same state share its node, and a question of one joins the other's", async () => {
  const bench = new QueueBench();
  bench.ask(flatTree(9, 2));
  const [state, question] = [
    { id: 1, length: 10 },
    { id: 2, length: 10 },
  ];
  const candidates = [3, 4, 5].map((id) => ({ id, length: 5 }));
  bench.ask(makeTree(state, [{ question, candidates: candidates.slice(0, 2) }]));
  bench.ask(
    makeTree(state, [
      { question, candidates: candidates.slice(1) },
      { question: state, candidates },
    ]),
  );
  bench.backend.current?.answer();
  const shape = () =>
    bench.backend.current?.forest.map((tree) => tree.questions.map((each) => each.candidates.length));
  await settle();
  assert.deepEqual(shape(), [[3, 3]]);
});

test("scores in the cache answer without the backend, also while it computes", async () => {
  const bench = new QueueBench({ cacheSize: 10 });
  bench.ask(flatTree(1, 3));
  bench.backend.current?.answer();
  await settle();
  bench.ask(flatTree(2, 2));
  const warm = bench.ask(flatTree(1, 3));
  await settle();
  assert.deepEqual([scoredOf(warm).inputTokens, scoredOf(warm).cachedPairs], [0, 3]);
  assert.deepEqual([...(scoredOf(warm).scores[0] ?? [])], warm.pairs.map(scoreOf));
  const { batches, cacheHits, cacheEntries, completed } = bench.scheduler.counters();
  assert.deepEqual([batches, cacheHits, cacheEntries, completed], [2, 3, 3, 2]);
});

test("a waiting request is answered by scores that came into the cache meanwhile", async () => {
  const bench = new QueueBench({ cacheSize: 10 });
  bench.ask(flatTree(1, 3));
  const twin = bench.ask(flatTree(1, 3));
  bench.backend.current?.answer();
  await settle();
  assert.equal(scoredOf(twin).cachedPairs, 3);
  assert.equal(bench.backend.calls.length, 1);
});

test("strict: each pair is alone in its batch, and a short request takes turns with a long one", async () => {
  const bench = new QueueBench({ strict: true });
  const long = bench.ask(flatTree(1, 8));
  const short = bench.ask(flatTree(2, 2, 10));
  for (let batch = 0; batch < 10; batch++) {
    assert.equal(bench.backend.current?.pairs.length, 1);
    bench.backend.current?.answer();
    await settle();
    if (batch < 4) assert.equal(outcomeOf(short), batch < 3 ? "open" : "completed");
  }
  assert.deepEqual([outcomeOf(long), scoredOf(long).inputTokens], ["completed", 8 * 40]);
});

test("strict: equal pairs without a cache are computed each, with a cache once", async () => {
  for (const { cacheSize, want } of [
    { cacheSize: 0, want: [2 * 12, 0, 2] },
    { cacheSize: 5, want: [12, 1, 1] },
  ]) {
    const bench = new QueueBench({ strict: true, cacheSize });
    const node = { id: 5, length: 4 };
    const asked = bench.ask(makeTree(node, [{ question: node, candidates: [node, node] }]));
    for (let batch = 0; batch < 2; batch++) {
      bench.backend.current?.answer();
      await settle();
    }
    const { inputTokens, cachedPairs } = scoredOf(asked);
    assert.deepEqual([inputTokens, cachedPairs, bench.backend.calls.length], want);
  }
});

const BACKEND_FAILURES = [
  { name: "an exception", fail: (bench: QueueBench) => bench.backend.current?.fail() },
  { name: "NaN", fail: (bench: QueueBench) => bench.backend.current?.answer(Float32Array.of(1, Number.NaN)) },
  { name: "infinity", fail: (bench: QueueBench) => bench.backend.current?.answer(Float32Array.of(1, 1 / 0)) },
  { name: "a score too few", fail: (bench: QueueBench) => bench.backend.current?.answer(Float32Array.of(1)) },
  {
    name: "a score too many",
    fail: (bench: QueueBench) => bench.backend.current?.answer(Float32Array.of(1, 2, 3)),
  },
];

for (const { name, fail } of BACKEND_FAILURES) {
  test(`${name} from the backend fails the requests of that batch and no other`, async () => {
    const bench = new QueueBench({ cacheSize: 10 });
    const [inBatch, waiting] = [bench.ask(flatTree(1, 2)), bench.ask(flatTree(2, 2))];
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
  bench.clock.advance(20);
  assert.deepEqual(bench.backend.current?.pairs, late.pairs);
});

test("timings are the time until the first batch and the time after it", async () => {
  const bench = new QueueBench();
  bench.ask(flatTree(1, 2));
  const asked = bench.admit(flatTree(2, 2));
  bench.clock.advance(3); // tokenizing: not the queue's
  asked.submit();
  bench.clock.advance(7);
  bench.backend.current?.answer();
  await settle();
  bench.clock.advance(11);
  bench.backend.current?.answer();
  await settle();
  assert.deepEqual(scoredOf(asked).timing, { queue: 7, inference: 11 });
});

test("draining lets nobody in and resolves when everybody has been answered", async () => {
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

test("closing answers whoever is left, and leaves no timer or listener behind", async () => {
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
  bench.backend.current?.fail(cause);
  await settle();
  const [answer] = asked.answers;
  assert.ok(answer instanceof ServiceError && answer.cause === cause);
});
