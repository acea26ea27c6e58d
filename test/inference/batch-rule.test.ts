import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "../../src/inference/batches/batch.ts";
import { BatchRule, LEAST_SMALL } from "../../src/inference/batches/batch-rule.ts";
import { HeldStates } from "../../src/inference/batches/held-states.ts";
import { RequestWork } from "../../src/inference/batches/request-work.ts";
import { ScoreCache } from "../../src/inference/batches/score-cache.ts";
import { MOST_MISSED_BATCHES } from "../../src/inference/batches/size-classes.ts";
import { planOf } from "../support/trees.ts";
import { flatTree } from "./queue-bench.ts";
import { Random } from "./random.ts";
import { makeTree } from "./scripted-backend.ts";

const LIMITS = { maxRequests: 4, maxTokens: 200, isStrict: false, mostOvertaken: Number.POSITIVE_INFINITY };
const makeRule = (limits = LIMITS) => new BatchRule(limits, new ScoreCache(0));

const heldStates = () => new HeldStates({ fewestTokens: 0 });

/** 10 + 10 + count * length tokens. */
const makeWork = (order: number, count: number, length = 20, fewestTokens = 0) =>
  new RequestWork(order, planOf(flatTree(order, count, length)), new HeldStates({ fewestTokens }));

/** Pairs of each request in the batch, by order. */
function sharesOf(batch: Batch): Record<number, number> {
  const shares: Record<number, number> = {};
  for (const [recipient] of batch.listRecipients()) {
    if (recipient === undefined) continue;
    shares[recipient.work.order] = (shares[recipient.work.order] ?? 0) + 1;
  }
  return shares;
}

test("equal requests are served in order of admission, whole before begun", () => {
  const rule = makeRule();
  const works = [3, 1, 2, 0].map((order) => makeWork(order, 3)); // 80 tokens each
  assert.deepEqual(sharesOf(rule.form(works)), { 0: 3, 1: 3, 2: 1 });
  const left = works.filter((work) => work.remainingPairs > 0);
  assert.deepEqual(sharesOf(rule.form(left)), { 2: 2, 3: 3 });
});

test("pairs that a batch already holds are not charged again", () => {
  const rule = makeRule({ ...LIMITS, maxTokens: 100 });
  const twins = [1, 2].map((order) => new RequestWork(order, planOf(flatTree(7, 4)), heldStates())); // 10 + 10 + 4 * 20 tokens
  const batch = rule.form(twins);
  assert.deepEqual([batch.pairCount, batch.tokenCount, batch.requests.size], [4, 100, 2]);
  assert.ok(twins.every((work) => work.remainingPairs === 0));
});

test("the oldest request gets half the budget beside any number of shorter ones", () => {
  const rule = makeRule({ ...LIMITS, maxRequests: 32 });
  const long = makeWork(0, 50);
  const batches: number[] = [];
  for (let order = 1; long.remainingPairs > 0 && batches.length < 50; order += 10) {
    const flood = Array.from({ length: 10 }, (_, at) => makeWork(order + at, 1)); // 40 tokens each
    batches.push(sharesOf(rule.form([long, ...flood]))[0] ?? 0);
  }
  // Half of 200 holds 10 + 10 + 4 * 20 tokens of it; two of the flood's 40 leave room for one more of its pairs.
  assert.deepEqual(
    batches,
    Array.from({ length: 10 }, () => 5),
  );
});

test("an oldest request whose pair passes half the budget leads every second batch", () => {
  const rule = makeRule();
  const wide = makeWork(0, 3, 150);
  const got: number[] = [];
  for (let order = 1; wide.remainingPairs > 0 && got.length < 50; order += 4) {
    const flood = [0, 1, 2, 3].map((at) => makeWork(order + at, 1, 40)); // 60 tokens each
    got.push(sharesOf(rule.form([wide, ...flood]))[0] ?? 0);
  }
  assert.deepEqual(got, [0, 1, 0, 1, 0, 1]);
});

test("a request that fits whole runs beside the most long ones allowed; one more long one waits", () => {
  const rule = makeRule();
  const long = [0, 1, 2, 3].map((order) => makeWork(order, 50));
  for (const work of long) rule.form([work]);
  const another = makeWork(4, 30);
  const short = makeWork(5, 2);
  assert.deepEqual(Object.keys(sharesOf(rule.form([...long, another, short]))), ["0", "5"]);
  assert.equal(another.hasBegun, false);
});

test("if one more long request may run, only one of two that fit a batch begins", () => {
  const rule = makeRule({ ...LIMITS, maxRequests: 2 });
  const begun = makeWork(0, 4, 60);
  rule.form([begun]);
  const [next, last] = [makeWork(2, 5, 60), makeWork(3, 100, 5)];
  // 70 of the oldest, 80 of the next; 50 are left, but not for one more that must be cut
  assert.deepEqual(sharesOf(rule.form([begun, next, last])), { 0: 1, 2: 1 });
  assert.deepEqual([next.hasBegun, last.hasBegun], [true, false]);
});

test("small requests get short batches, and long ones only when many wait", () => {
  const limits = { ...LIMITS, maxRequests: 32, maxTokens: 2000 };
  const requestsOf = (count: number, quantum: number) => {
    const works = Array.from({ length: count }, (_, order) => makeWork(order, 1)); // 40 tokens each
    return makeRule(limits).form(works, quantum).requests.size;
  };
  assert.equal(requestsOf(20, 500), 7); // the oldest, and 256 tokens
  assert.equal(requestsOf(20, 1600), 11); // the oldest, and a quarter of the quantum
  assert.equal(requestsOf(25, 500), 7);
  assert.equal(requestsOf(26, 500), 26); // half of `maxTokens` waits beside the oldest
});

test("beside a long request, small ones get half the quantum", () => {
  const long = makeWork(0, 100);
  const small = Array.from({ length: 20 }, (_, at) => makeWork(1 + at, 1)); // 40 tokens each
  const shares = sharesOf(
    makeRule({ ...LIMITS, maxRequests: 32, maxTokens: 2000 }).form([long, ...small], 800),
  );
  assert.deepEqual([shares[0], Object.keys(shares).length], [19, 1 + 10]); // 400 tokens each
});

test("in a queue that smaller requests always fill, no small request waits long", () => {
  const rule = makeRule({ ...LIMITS, maxRequests: 8, maxTokens: 1000 });
  const larger = Array.from({ length: 16 }, (_, order) => makeWork(order, 5)); // 120 tokens each
  let ready = larger;
  let batches = 0;
  for (let order = 100; ready.some((work) => larger.includes(work)); order += 8) {
    assert.ok(batches < 7, "four batches pass them over, three hold the 16");
    ready = [...ready, ...Array.from({ length: 8 }, (_, at) => makeWork(order + at, 2))]; // 60 tokens each
    rule.form(ready);
    ready = ready.filter(({ remainingPairs }) => remainingPairs > 0);
    batches += 1;
  }
});

test("on random workloads every batch keeps its limits and the two bounds of the rule hold", () => {
  const random = new Random(7);
  let [shortSeen, ledSeen, halfSeen] = [0, 0, 0];
  for (let run = 0; run < 60; run++) {
    const isStrict = random.isChance(0.1);
    const limits = {
      maxRequests: random.between(1, 6),
      maxTokens: random.pick([30, 60, 200, 1000]),
      isStrict,
      mostOvertaken: Number.POSITIVE_INFINITY,
    };
    const rule = makeRule(limits);
    const half = limits.maxTokens / 2;
    const path = 20; // state and question
    const onTop = path > half ? path : 0;
    const shortestKept = random.pick([0, 0, 11]); // states have 10 tokens
    let ready: RequestWork[] = [];
    let order = 0;
    let passedOver: RequestWork | undefined;
    for (let step = 0; step < 40; step++) {
      for (let arrivals = random.between(0, 5); arrivals > 0; arrivals--) {
        ready.push(makeWork(order++, random.pick([1, 2, 3, 40]), random.pick([1, 5, 20, 90]), shortestKept));
      }
      if (ready.length === 0) continue;
      ready.sort((a, b) => a.order - b.order);
      const rests = new Map(ready.map((work) => [work, work.remainingTokens]));
      const pairs = new Map(ready.map((work) => [work, work.remainingPairs]));
      const overdue = new Set(ready.filter((work) => work.missedBatches >= MOST_MISSED_BATCHES));
      const begun = ready.filter((work) => work.hasBegun);
      const owed = ready.find((work) => work === passedOver);
      const oldest = owed ?? (begun.length < limits.maxRequests ? ready : begun)[0];
      const batch = rule.form(ready);
      const label = `run ${run}, step ${step}`;

      assert.ok(batch.pairCount > 0, label);
      assert.ok(batch.tokenCount <= limits.maxTokens + onTop || batch.pairCount === 1, label);
      assert.ok(batch.requests.size <= limits.maxRequests, label);
      assert.ok(!isStrict || batch.pairCount === 1, label);
      const underWay = ready.filter((work) => work.hasBegun && work.remainingPairs > 0).length;
      assert.ok(underWay <= limits.maxRequests + 1, label);

      const isLed = owed !== undefined;
      if (isLed) ledSeen += 1;
      else if (!isStrict) {
        for (const [work, rest] of rests) {
          const before = [...rests].filter(
            ([other, size]) => other !== work && (size <= rest || (overdue.has(other) && size <= half)),
          );
          const sum = before.reduce((tokens, [, size]) => tokens + size, rest);
          if (sum > Math.min(half, LEAST_SMALL) || before.length + 2 > limits.maxRequests) continue;
          shortSeen += 1;

          assert.equal(work.remainingPairs, 0, `${label}: a short request waits`);
        }
      }

      if (oldest !== undefined) {
        const got = (pairs.get(oldest) ?? 0) - oldest.remainingPairs;
        if (oldest === passedOver) assert.ok(got > 0, `${label}: passed over twice`);
        const dearest = 110; // 10 + 10 + 90 tokens
        if (!isStrict && !isLed && oldest.remainingPairs > 0 && half > dearest) {
          halfSeen += 1;
          const served = (rests.get(oldest) ?? 0) - oldest.remainingTokens;
          assert.ok(served > half - dearest, `${label}: the oldest got ${served}`);
        }
        passedOver = got === 0 ? oldest : undefined;
      }
      ready = ready.filter((work) => work.remainingPairs > 0);
    }
  }
  for (const seen of [shortSeen, ledSeen, halfSeen]) assert.ok(seen > 100, `${seen}`);
});

/**
 * Keeps a queue of `capacity` requests full, of which every fifth is long.
 *
 * @returns the largest number of younger requests that began before a request was finished
 */
function mostOvertakenIn(capacity: number, mostOvertaken: number, batches: number): number {
  const rule = makeRule({ maxRequests: 32, maxTokens: 2000, isStrict: false, mostOvertaken });
  let ready: RequestWork[] = [];
  let most = 0;
  for (let order = 0, batch = 0; batch < batches; batch++) {
    for (; ready.length < capacity; order++) ready.push(makeWork(order, order % 5 === 0 ? 30 : 1));
    assert.ok(rule.form(ready, 200).pairCount > 0);
    most = Math.max(most, ...ready.map(({ overtakenBy }) => overtakenBy));
    ready = ready.filter(({ remainingPairs }) => remainingPairs > 0);
  }
  return most;
}

test("in a full queue, a request is overtaken by about as many as the queue holds", () => {
  const most = mostOvertakenIn(128, 128, 1000);
  assert.ok(most >= 128 && most < 128 + 64, `${most}`); // two batches more
  const unbounded = mostOvertakenIn(128, Number.POSITIVE_INFINITY, 1000);
  assert.ok(unbounded > 256, `${unbounded} without the bound`);
});

test("in a queue that is less than half full, small requests go first", () => {
  const most = mostOvertakenIn(63, 128, 1000);
  assert.ok(most >= 160, `${most}`);
});

test("a request that the last batch served does not lead the next one, even if the batch before left it out", () => {
  const rule = makeRule({ ...LIMITS, mostOvertaken: 4 });
  const wide = makeWork(0, 3, 150); // a pair passes half the budget
  const small = (order: number) => makeWork(order, 1, 40);
  rule.form([wide, ...[1, 2, 3].map(small)]); // fills up with small ones, which overtake the wide one
  const late = makeWork(4, 1, 40);
  late.overtakenBy = 4;
  assert.deepEqual(sharesOf(rule.form([wide, late])), { 0: 1 }, "in order of admission");
  const after = rule.form([wide, ...[5, 6, 7].map(small)]);
  assert.deepEqual(sharesOf(after), { 5: 1, 6: 1, 7: 1 });
});

test("no request counts as left out of a batch that stayed empty", () => {
  const cache = new ScoreCache(10);
  const rule = new BatchRule(LIMITS, cache);
  const known = makeWork(1, 1);
  if (known.nextPair) cache.set(known.nextPair.leaf.key, 1);
  const node = (id: number, length: number) => ({ id: 9_000_000 + id, length });
  const tree = makeTree(node(0, 150), [{ question: node(1_000, 10), candidates: [node(2_000, 20)] }]); // rule 6
  const long = new RequestWork(2, planOf(tree), heldStates());
  assert.equal(rule.form([known, long]).pairCount, 0);
  assert.equal(long.missedBatches, 0);
});
