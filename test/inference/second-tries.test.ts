import assert from "node:assert/strict";
import { test } from "node:test";
import { settle } from "./fake-clock.ts";
import { type Asked, flatTree, outcomeOf, QueueBench, scoredOf } from "./queue-bench.ts";
import { Random } from "./random.ts";
import { makeTree, scoreOf } from "./scripted-backend.ts";

/** Puts a request that fails into one batch with others that do not. */
async function askTogether(
  bench: QueueBench,
  companions: number,
): Promise<{ culprit: Asked; innocent: Asked[] }> {
  const running = bench.ask(flatTree(99, 1));
  const asked = Array.from({ length: companions + 1 }, (_, at) => bench.ask(flatTree(at, 2, 5)));
  bench.backend.current?.answer();
  await settle();
  assert.equal(outcomeOf(running), "completed");
  const culprit = asked[companions >> 1] as Asked; // one of so many
  return { culprit, innocent: asked.filter((each) => each !== culprit) };
}

/** Answers every call but those with a poisoned pair. */
async function computeAll(bench: QueueBench, isPoison: (pair: string) => boolean): Promise<void> {
  for (let call = bench.backend.current; call !== undefined; call = bench.backend.current) {
    assert.ok(bench.backend.calls.length < 2_000, "it is tried for ever");
    if (call.pairs.some(isPoison)) call.fail();
    else call.answer();
    await settle();
  }
}

const callsWith = ({ backend }: QueueBench, pairs: readonly string[]) =>
  backend.calls.filter((call) => call.pairs.some((pair) => pairs.includes(pair)));

function assertAnswered(asked: Asked): void {
  assert.deepEqual([...(scoredOf(asked).scores[0] ?? [])], asked.pairs.map(scoreOf));
}

test("a request that makes its batch fail fails alone, after one try in company and one alone", async () => {
  const bench = new QueueBench({ queueCapacity: 40 });
  const { culprit, innocent } = await askTogether(bench, 8);
  assert.equal(bench.backend.current?.pairs.length, 18, "the test does not bring them together");
  await computeAll(bench, (pair) => culprit.pairs.includes(pair));
  assert.equal(outcomeOf(culprit), "BACKEND_FAILED");
  for (const each of innocent) assertAnswered(each);
  assert.deepEqual(
    callsWith(bench, culprit.pairs).map(({ pairs }) => pairs.length),
    [18, 2],
  );
  const { completed, failed, queued, running, batches } = bench.scheduler.counters();
  assert.deepEqual([completed, failed, queued, running], [9, 1, 0, 0]);
  assert.equal(batches, 1 + 1 + 9, "no pair is computed more than twice");
});

test("a request alone in a batch that fails once is answered", async () => {
  const bench = new QueueBench();
  const asked = bench.ask(flatTree(1, 2));
  bench.backend.current?.fail();
  await settle();
  await computeAll(bench, () => false);
  assertAnswered(asked);
  assert.equal(scoredOf(asked).inputTokens, 2 * 40);
  assert.deepEqual([bench.scheduler.counters().failed, bench.scheduler.counters().batches], [0, 2]);
});

test("retries wait until the backend is ready again and run before waiting requests", async () => {
  const bench = new QueueBench({ queueCapacity: 40 });
  const { culprit, innocent } = await askTogether(bench, 2);
  const later = bench.ask(flatTree(50, 2));
  bench.backend.isReady = false;
  bench.backend.current?.fail();
  await settle();
  assert.equal(bench.backend.current, undefined);
  assert.deepEqual([culprit, ...innocent].map(outcomeOf), ["open", "open", "open"]);
  bench.backend.isReady = true;
  const first = bench.backend.calls.length - 1;
  await computeAll(bench, () => false);
  const order = [innocent[0], culprit, innocent[1], later].map((asked) => asked?.pairs);
  assert.deepEqual(
    bench.backend.calls.slice(first).map(({ pairs }) => pairs),
    order,
  );
});

test("deadlines hold for second tries, and who has left is not computed again", async () => {
  const bench = new QueueBench({ queueCapacity: 40, deadlineMs: 100 });
  const { culprit, innocent } = await askTogether(bench, 3);
  const [leaves, ...late] = innocent as [Asked, Asked, Asked];
  leaves.caller.abort();
  bench.backend.current?.fail();
  await settle();
  const before = bench.backend.calls.length - 1;
  assert.deepEqual(bench.backend.current?.pairs, culprit.pairs);
  bench.backend.isReady = false;
  bench.backend.current?.answer();
  await settle();
  assertAnswered(culprit);
  bench.clock.stall(100);
  bench.backend.isReady = true;
  await computeAll(bench, () => false);
  assert.deepEqual([leaves, ...late].map(outcomeOf), ["CANCELLED", "DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"]);
  assert.equal(bench.backend.calls.length, before + 1);
});

test("only the pairs of the batch that failed are computed again", async () => {
  const bench = new QueueBench({ maxBatchTokens: 100 });
  const long = bench.ask(flatTree(1, 10, 20));
  bench.backend.current?.answer();
  await settle();
  bench.backend.current?.fail();
  await settle();
  await computeAll(bench, () => false);
  assertAnswered(long);
  const sizes = bench.backend.calls.map(({ pairs }) => pairs.length);
  assert.deepEqual(sizes, [5, 5, 5]);
  assert.deepEqual(bench.backend.calls[2]?.pairs, bench.backend.calls[1]?.pairs);
});

test("a pair that two requests share is computed again for each, and fails both if it is the culprit", async () => {
  for (const isPoison of [true, false]) {
    const bench = new QueueBench();
    bench.ask(flatTree(9, 1));
    const node = (id: number) => ({ id: id * 100, length: 5 });
    const tree = (own: number) =>
      makeTree(node(1), [{ question: node(2), candidates: [node(3), node(own)] }]);
    const twins = [bench.ask(tree(4)), bench.ask(tree(5))];
    bench.backend.current?.answer();
    await settle();
    assert.equal(bench.backend.current?.pairs.length, 3);
    bench.backend.current?.fail();
    await settle();
    await computeAll(bench, (pair) => isPoison && pair === twins[0]?.pairs[0]);
    if (!isPoison) for (const twin of twins) assertAnswered(twin);
    else assert.deepEqual(twins.map(outcomeOf), ["BACKEND_FAILED", "BACKEND_FAILED"]);
  }
});

test("draining waits for second tries", async () => {
  const bench = new QueueBench({ queueCapacity: 40 });
  const { innocent } = await askTogether(bench, 2);
  let isDrained = false;
  const drained = bench.scheduler.drain().then(() => {
    isDrained = true;
  });
  bench.backend.current?.fail();
  await settle();
  assert.equal(isDrained, false);
  await computeAll(bench, () => false);
  await drained;
  for (const each of innocent) assertAnswered(each);
});

test("among random requests only uncomputable ones fail, and none is tried more than twice", async () => {
  let [culprits, companions] = [0, 0];
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed);
    const bench = new QueueBench({
      queueCapacity: 1000,
      maxBatchTokens: random.pick([30, 100, 400, 4000]),
      maxBatchRequests: random.pick([1, 4, 32]),
      strict: random.isChance(0.1),
    });
    const asked = Array.from({ length: 40 }, (_, at) => bench.ask(flatTree(at, random.between(1, 12), 5)));
    const poison = new Set(asked.filter(() => random.isChance(0.08)).map(({ pairs }) => random.pick(pairs)));
    await computeAll(bench, (pair) => poison.has(pair));
    for (const each of asked) {
      const isCulprit = each.pairs.some((pair) => poison.has(pair));
      if (isCulprit) assert.equal(outcomeOf(each), "BACKEND_FAILED", `seed ${seed}`);
      else assertAnswered(each);
      for (const pair of each.pairs) assert.ok(callsWith(bench, [pair]).length <= 2, `seed ${seed}`);
    }
    culprits += poison.size;
    companions += callsWith(bench, [...poison]).filter(({ pairs }) => pairs.length > 12).length;
    assert.equal(bench.scheduler.counters().failed, poison.size);
    assert.equal(bench.scheduler.counters().batches, bench.backend.calls.length);
  }
  assert.ok(culprits > 100 && companions > 20, "the test does not reach it");
});
