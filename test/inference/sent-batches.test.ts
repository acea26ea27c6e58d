import assert from "node:assert/strict";
import { test } from "node:test";
import { Pace } from "../../src/inference/batches/pace.ts";
import { SentBatches } from "../../src/inference/batches/sent-batches.ts";

/** A token takes a millisecond. */
function measured(): Pace {
  const pace = new Pace();
  for (let run = 0; run < 3; run++) pace.record(100, 100);
  return pace;
}

test("nothing is sent ahead before there are measurements", () => {
  const sent = new SentBatches(new Pace());
  assert.equal(sent.untilRoomMs(0), 0);
  sent.add(100, 0);
  assert.equal(sent.untilRoomMs(1000), Number.POSITIVE_INFINITY);
});

test("the next batch is accepted before the expected end, and no further one", () => {
  const sent = new SentBatches(measured());
  sent.add(1000, 0);
  assert.deepEqual([sent.untilRoomMs(0), sent.untilRoomMs(800), sent.untilRoomMs(850)], [850, 50, 0]);
  sent.add(100, 850);
  assert.equal(sent.untilRoomMs(1300), Number.POSITIVE_INFINITY);
});

test("beside a short batch, the next one is accepted at once", () => {
  const sent = new SentBatches(measured());
  sent.add(100, 0);
  assert.equal(sent.untilRoomMs(0), 0);
});

test("a batch that was sent ahead is measured from the end of the one before it", () => {
  const pace = measured();
  const sent = new SentBatches(pace);
  const first = sent.add(100, 0);
  const second = sent.add(1000, 85);
  assert.equal(sent.remainingMs(90), 10 + 1000);
  sent.end(first, 100, 100);
  assert.equal(sent.remainingMs(300), 800);
  sent.end(second, 600, 1000);
  for (let run = 0; run < 2; run++) pace.record(1000, 500);
  assert.equal(pace.expectedMs(1000), 500);
});

test("the time of a batch is that of the tokens that were computed, not of those expected", () => {
  const pace = new Pace();
  const sent = new SentBatches(pace);
  for (let run = 0; run < 3; run++) sent.end(sent.add(50, run * 1000), run * 1000 + 500, 1000);
  assert.equal(pace.expectedMs(1000), 500);
  assert.equal(pace.expectedMs(50), 25);
});

test("the time of a failed batch is not a measurement", () => {
  const pace = new Pace();
  const sent = new SentBatches(pace);
  for (let run = 0; run < 5; run++) sent.end(sent.add(100, run), run + 1);
  assert.equal(pace.expectedMs(100), undefined);
  assert.equal(sent.count, 0);
});
