import assert from "node:assert/strict";
import { test } from "node:test";
import { HeldStates } from "../../src/inference/batches/held-states.ts";
import type { Node } from "../../src/inference/nodes.ts";

const state = (key: string, length: number): Node => {
  return { level: 0, key, tokens: new Int32Array(length), parent: undefined };
};

test("the states of the latest batches are held, as many as the backend keeps", () => {
  const held = new HeldStates({ fewestTokens: 10, mostTokens: 30 });
  const [short, a, b, c, long] = [9, 10, 20, 15, 31].map((length) => state(`${length}`, length));
  assert.ok(short && a && b && c && long);
  for (const each of [short, a, b, a, c, long]) {
    held.note(each);
    held.endBatch();
  }
  assert.deepEqual(
    [short, a, b, c, long].map((each) => held.has(each)),
    [false, true, false, true, false],
  );
});

test("while a batch is formed, none is evicted", () => {
  const held = new HeldStates({ fewestTokens: 10, mostTokens: 30 });
  const [old, first, second] = [20, 21, 22].map((length) => state(`${length}`, length));
  assert.ok(old && first && second);
  held.note(old);
  held.endBatch();
  for (const each of [first, second]) held.note(each);
  assert.ok([old, first, second].every((each) => held.has(each)));
  held.endBatch();
  assert.deepEqual(
    [old, first, second].map((each) => held.has(each)),
    [false, false, true],
  );
});

test("none is held after the backend has lost its cache, or if it has none", () => {
  const held = new HeldStates({ fewestTokens: 0 });
  held.note(state("a", 5));
  assert.ok(held.has(state("a", 5)));
  for (const kept of [
    { fewestTokens: 0 },
    { fewestTokens: Number.POSITIVE_INFINITY },
    { fewestTokens: 0, mostTokens: 0 },
  ]) {
    held.reset(kept);
    assert.ok(!held.has(state("a", 5)));
    held.note(state("b", 5));
    assert.equal(held.has(state("b", 5)), kept.fewestTokens === 0 && kept.mostTokens === undefined);
  }
});
