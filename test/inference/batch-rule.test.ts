import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "../../src/inference/batches/batch.ts";
import { BatchRule, isLong } from "../../src/inference/batches/batch-rule.ts";
import { RequestWork, ScoreCache } from "../../src/inference/batches/request-work.ts";
import { planOf } from "../support/trees.ts";
import { flatTree } from "./queue-bench.ts";
import { Random } from "./random.ts";

const LIMITS = { maxRequests: 4, isStrict: false };
const QUANTUM = 200;

/** 10 + 10 + count * length tokens. */
const makeWork = (order: number, count: number, length = 20) =>
  new RequestWork(order, planOf(flatTree(order, count, length)));

function makeRule(
  works: readonly RequestWork[],
  limits: Partial<typeof LIMITS> = {},
  cache = new ScoreCache(0),
) {
  const rule = new BatchRule({ ...LIMITS, ...limits }, cache);
  for (const work of works) rule.add(work, QUANTUM);
  return rule;
}

/** Pairs of each request in the batch, by order. */
function sharesOf(batch: Batch): Record<number, number> {
  const shares: Record<number, number> = {};
  for (const [recipient] of batch.listRecipients()) {
    if (recipient === undefined) continue;
    shares[recipient.work.order] = (shares[recipient.work.order] ?? 0) + 1;
  }
  return shares;
}

test("equal requests are served in the order in which they came, and one that was cut goes on first", () => {
  const rule = makeRule([0, 1, 2, 3].map((order) => makeWork(order, 3))); // 80 tokens each
  assert.deepEqual(sharesOf(rule.form(QUANTUM)), { 0: 3, 1: 3, 2: 2 });
  assert.deepEqual(sharesOf(rule.form(QUANTUM)), { 2: 1, 3: 3 });
});

test("small requests go before long ones, and a long one gets what is left", () => {
  const rule = makeRule([makeWork(0, 50), makeWork(1, 1), makeWork(2, 1)]);
  assert.deepEqual(sharesOf(rule.form(QUANTUM)), { 0: 6, 1: 1, 2: 1 });
  assert.deepEqual(sharesOf(rule.form(QUANTUM)), { 0: 10 });
});

test("a long request that is overdue is finished before younger ones", () => {
  const long = makeWork(0, 12);
  const rule = makeRule([long], { maxRequests: 20 });
  let order = 1;
  const got: number[] = [];
  while (long.remainingPairs > 0) {
    assert.ok(got.length < 20, "it starves");
    for (const until = order + 10; order < until; order++) rule.add(makeWork(order, 1), QUANTUM); // 400 tokens
    got.push(sharesOf(rule.form(QUANTUM))[0] ?? 0);
  }
  assert.deepEqual(got, [0, 0, 0, 0, 10, 2]);
});

test("a state and question that are larger than a quantum leave room for candidates in every slice", () => {
  const long = new RequestWork(0, planOf(flatTree(0, 40)));
  const rule = makeRule([long]);
  let slices = 0;
  for (; long.remainingPairs > 0; slices++) assert.ok(rule.form(15).pairCount > 0);
  assert.ok(slices <= 40);
});

test("pairs that a batch already holds are not charged again", () => {
  const rule = makeRule([1, 2].map((order) => new RequestWork(order, planOf(flatTree(7, 4)))));
  const batch = rule.form(QUANTUM);
  assert.deepEqual([batch.pairCount, batch.tokenCount, batch.requests.size], [4, 100, 2]);
  assert.equal(rule.size, 0);
});

test("pairs in the score cache are answered, and a batch of none is empty", () => {
  const cache = new ScoreCache(10);
  const known = makeWork(1, 1);
  if (known.nextPair) cache.set(known.nextPair.leaf.key, 1);
  const rule = makeRule([known], {}, cache);
  assert.deepEqual([rule.form(QUANTUM).pairCount, known.isAnswered, rule.size === 0], [0, true, true]);
});

test("on random workloads every batch keeps its limits and the order, and no long request is passed over for ever", () => {
  const random = new Random(7);
  for (let run = 0; run < 60; run++) {
    const isStrict = random.isChance(0.1);
    const maxRequests = random.between(1, 6);
    const rule = makeRule([], { isStrict, maxRequests });
    let order = 0;
    for (let step = 0; step < 60; step++) {
      for (let arrivals = random.between(0, 5); arrivals > 0; arrivals--)
        rule.add(makeWork(order++, random.pick([1, 2, 3, 40]), random.pick([1, 5, 20, 90])), QUANTUM);
      if (rule.size === 0) continue;
      const [smalls, longs] = [[...rule.small], [...rule.long]].map((line) => line.map(([work]) => work)) as [
        RequestWork[],
        RequestWork[],
      ];
      const waiting = [...smalls, ...longs];
      const tokens = waiting.reduce((sum, { remainingTokens }) => sum + remainingTokens, 0);
      assert.equal(rule.tokens, tokens, "the running sums are wrong");
      const isOverdue = (longs[0]?.overtakenBy ?? 0) >= maxRequests;
      const batch = rule.form(QUANTUM);
      const label = `run ${run}, step ${step}`;
      assert.ok(batch.pairCount > 0, label);
      assert.ok(batch.countedTokens <= QUANTUM || batch.pairCount === 1, label);
      assert.ok(batch.requests.size <= maxRequests, label);
      assert.ok(!isStrict || batch.pairCount === 1, label);
      for (const line of [smalls, longs]) {
        const served = line.filter((work) => batch.requests.has(work));
        assert.deepEqual(served, line.slice(0, served.length), `${label}: not the oldest first`);
        for (const work of served.slice(0, -1))
          assert.equal(work.remainingPairs, 0, `${label}: cut before the last`);
      }
      if (isOverdue)
        assert.ok(
          longs.some((work, at) => at === 0 && batch.requests.has(work)),
          `${label}: passed over`,
        );
    }
  }
});

test("half a quantum is small", () => {
  assert.deepEqual([isLong(100, QUANTUM), isLong(101, QUANTUM)], [false, true]);
});
