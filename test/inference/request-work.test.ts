import assert from "node:assert/strict";
import { test } from "node:test";
import { Batch } from "../../src/inference/batches/batch.ts";
import { RequestWork } from "../../src/inference/batches/request-work.ts";
import { nodeBelow, type RequestPlan, stateOf } from "../../src/inference/nodes.ts";

const tokens = (first: number, length: number) => Int32Array.from({ length }, (_, at) => first + at);
const long = tokens(1000, 20);
const short = tokens(1000, 18); // the same state, cut earlier
const question = tokens(2000, 5);

const longState = nodeBelow(undefined, long);
const longQuestion = nodeBelow(longState, question);
const shortQuestion = nodeBelow(nodeBelow(undefined, short), tokens(1900, 7));

/** The middle candidate's border was cut earlier, as where a token reaches across it. */
const plan: RequestPlan = [
  [
    nodeBelow(longQuestion, tokens(3000, 3)),
    nodeBelow(shortQuestion, tokens(3100, 3)),
    nodeBelow(longQuestion, tokens(3200, 3)),
  ],
];

function hand(work: RequestWork, batch: Batch): number {
  const pair = work.nextPair;
  assert.ok(pair !== undefined);
  const cost = batch.costOf({ work, pair });
  batch.add({ work, pair });
  work.handOut();
  return cost;
}

test("a request of several states costs each of them once, and each question once", () => {
  const work = new RequestWork(1, plan);
  assert.equal(work.remainingTokens, 20 + 18 + 5 + 7 + 3 * 3);
  const batch = new Batch();
  assert.deepEqual([hand(work, batch), hand(work, batch), hand(work, batch)], [28, 28, 3]);
  assert.equal(work.remainingTokens, 0);
  assert.equal(batch.tokenCount, 59);
  assert.deepEqual(
    batch.leaves().map((leaf) => stateOf(leaf).tokens.length),
    [20, 18, 20],
  );
});

test("scores find their candidates", () => {
  const work = new RequestWork(1, plan);
  const batch = new Batch();
  while (work.nextPair !== undefined) hand(work, batch);
  for (const [at, recipients] of batch.listRecipients().entries()) {
    for (const { pair } of recipients) work.answer(pair, [10, 20, 30][at] ?? 0, true);
  }
  assert.deepEqual([...(work.scores[0] ?? [])], [10, 20, 30]);
  assert.equal(work.inputTokens, 28 + 28 + 28);
});

test("a state costs nothing in the batches after its first", () => {
  const work = new RequestWork(1, plan);
  assert.equal(hand(work, new Batch()), 28);
  assert.equal(work.remainingTokens, 5 + 3 + (18 + 7 + 3));
  assert.equal(hand(work, new Batch()), 18 + 7 + 3);
  assert.equal(hand(work, new Batch()), 5 + 3);
  assert.equal(work.tokens, 20 + 18 + 5 + 7 + 3 * 3);
});
