import assert from "node:assert/strict";
import { test } from "node:test";
import { SentBatches, Throughput } from "../../src/inference/throughput.ts";

function throughputOf(batches: readonly (readonly [tokens: number, ms: number])[]): Throughput {
  const throughput = new Throughput();
  for (const [tokens, ms] of batches) throughput.record(tokens, ms);
  return throughput;
}

const repeat = (count: number, tokens: number, ms: number) =>
  Array.from({ length: count }, () => [tokens, ms] as const);

test("there is an estimate after three batches, of which the first does not count", () => {
  assert.equal(throughputOf(repeat(2, 100, 10)).msFor(100), undefined);
  const ms = throughputOf([[100, 3000], ...repeat(2, 100, 10)]).msFor(1_000);
  assert.ok(ms !== undefined && Math.abs(ms - 100) < 1e-6, `${ms}`);
});

test("invalid measurements are skipped", () => {
  const invalid = [
    [0, 10],
    [-1, 10],
    [10, Number.NaN],
    [Number.NaN, 10],
  ] as const;
  assert.equal(throughputOf(invalid).msFor(10), undefined);
});

/** A token takes a millisecond. */
function measured(): Throughput {
  const throughput = new Throughput();
  for (let run = 0; run < 3; run++) throughput.record(100, 100);
  return throughput;
}

test("nothing is sent ahead before there are measurements", () => {
  const sent = new SentBatches(new Throughput());
  assert.equal(sent.untilRoomMs(0), 0);
  sent.add(100, 0);
  assert.equal(sent.untilRoomMs(1000), Number.POSITIVE_INFINITY);
});

test("the next batch is sent shortly before the expected end, and no further one", () => {
  const sent = new SentBatches(measured());
  sent.add(1000, 0);
  const [first, later] = [sent.untilRoomMs(0), sent.untilRoomMs(900)];
  assert.ok(first > 900 && first < 1000 && Math.abs(first - 900 - later) < 1e-6, `${first}, ${later}`);
  assert.equal(sent.untilRoomMs(1000), 0);
  sent.add(100, 1000);
  assert.equal(sent.untilRoomMs(1300), Number.POSITIVE_INFINITY);
});

test("beside a short batch, the next one is accepted at once", () => {
  const sent = new SentBatches(measured());
  sent.add(10, 0);
  assert.equal(sent.untilRoomMs(0), 0);
});

test("a batch that was sent ahead is measured from the end of the one before it", () => {
  const throughput = measured();
  const sent = new SentBatches(throughput);
  const first = sent.add(100, 0);
  const second = sent.add(1000, 85);
  assert.equal(Math.round(sent.remainingMs(90)), 10 + 1000);
  sent.end(first, 100, false);
  assert.equal(Math.round(sent.remainingMs(300)), 800);
  sent.end(second, 1100, false);
  assert.equal(Math.round(throughput.msFor(1000) ?? 0), 1000);
});

test("the time of a failed batch is not a measurement", () => {
  const throughput = new Throughput();
  const sent = new SentBatches(throughput);
  for (let run = 0; run < 5; run++) sent.end(sent.add(100, run), run + 1, true);
  assert.equal(throughput.msFor(100), undefined);
  assert.equal(sent.count, 0);
});
