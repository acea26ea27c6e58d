import assert from "node:assert/strict";
import { test } from "node:test";
import { settle } from "./fake-clock.ts";
import { flatTree, outcomeOf, QueueBench, scoredOf } from "./queue-bench.ts";
import { makeTree, scoreOf } from "./scripted-backend.ts";

test("a request larger than the budget is split, and its state is paid for once", async () => {
  const bench = new QueueBench({ maxBatchTokens: 100 });
  const asked = bench.ask(flatTree(1, 10, 20)); // 10 + 10 + 10 * 20 tokens
  for (let batch = 0; batch < 2; batch++) {
    bench.backend.current?.answer();
    await settle();
  }
  assert.deepEqual(
    bench.backend.calls.map(({ pairs }) => pairs.length),
    [5, 5], // 5 * 20, besides state and question
  );
  const scored = scoredOf(asked);
  assert.deepEqual([...(scored.scores[0] ?? [])], asked.pairs.map(scoreOf));
  assert.equal(scored.inputTokens, 10 * 40);
  assert.deepEqual([bench.scheduler.counters().batches, bench.scheduler.counters().forwards], [2, 2]);
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
  ["the token budget is reached", { maxBatchTokens: 60 }, [flatTree(1, 2)]],
  ["enough requests are there", { maxBatchRequests: 2 }, [flatTree(1, 2), flatTree(2, 2)]],
  ["company is not wanted (strict)", { strict: true }, [flatTree(1, 2)]],
] as const;

for (const [name, settings, ask] of REASONS_NOT_TO_WAIT) {
  test(`nobody waits for company when ${name}`, () => {
    const bench = new QueueBench({ batchWaitMs: 5, ...settings });
    for (const tree of ask) bench.ask(tree);
    assert.equal(bench.backend.calls.length, 1);
  });
}

test("a long request does not wait for company between its batches", async () => {
  const bench = new QueueBench({ batchWaitMs: 5, maxBatchTokens: 50 });
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

test("a waiting request is answered with scores that were cached meanwhile", async () => {
  const bench = new QueueBench({ cacheSize: 10 });
  bench.ask(flatTree(1, 3));
  const twin = bench.ask(flatTree(1, 3));
  bench.backend.current?.answer();
  await settle();
  assert.equal(scoredOf(twin).cachedPairs, 3);
  assert.equal(bench.backend.calls.length, 1);
});

test("strict: each pair is alone in its batch, and a short request goes before the rest of a long one", async () => {
  const bench = new QueueBench({ strict: true, maxBatchTokens: 200 });
  const long = bench.ask(flatTree(1, 8));
  const short = bench.ask(flatTree(2, 2, 10));
  for (let batch = 0; batch < 10; batch++) {
    assert.equal(bench.backend.current?.pairs.length, 1);
    bench.backend.current?.answer();
    await settle();
    if (batch < 4) assert.equal(outcomeOf(short), batch < 2 ? "open" : "completed");
  }
  assert.deepEqual([outcomeOf(long), scoredOf(long).inputTokens], ["completed", 8 * 40]);
});
