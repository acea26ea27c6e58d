import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Postponed } from "../../src/server/wire/postponed.ts";

/** Adds `count` pieces of work, and notes in which turn of the event loop each is done. */
async function turnsOf(
  postponed: Postponed,
  count: number,
  { act = () => {}, onTurn = () => {} }: { act?: () => void; onTurn?: () => void } = {},
): Promise<{ order: number[]; turns: number[] }> {
  const order: number[] = [];
  const turns: number[] = [];
  let now = 0;
  for (let at = 0; at < count; at += 1) {
    postponed.add(() => {
      order.push(at);
      turns.push(now);
      act();
    });
  }
  assert.deepEqual(order, [], "nothing is done at once");
  for (; order.length < count; now += 1) {
    onTurn();
    await setImmediate();
  }
  return { order, turns };
}

test("postponed work is done in its order, and short work in one turn", async () => {
  const { order, turns } = await turnsOf(new Postponed(), 5);
  assert.deepEqual(order, [0, 1, 2, 3, 4]);
  assert.equal(new Set(turns).size, 1);
});

test("long work is spread over turns", async () => {
  const act = () => {
    const endsAt = performance.now() + 3;
    while (performance.now() < endsAt);
  };
  const { turns } = await turnsOf(new Postponed(), 4, { act });
  assert.equal(new Set(turns).size, 4);
});

test("work waits while each turn brings a connection, but not for ever", async () => {
  const postponed = new Postponed();
  const startedAt = performance.now();
  const { turns } = await turnsOf(postponed, 2, { onTurn: () => postponed.noteConnection() });
  assert.ok(performance.now() - startedAt >= 300);
  assert.ok((turns[0] ?? 0) > 1, String(turns));
});

test("work that is added by other work is done in a later turn", async () => {
  const postponed = new Postponed();
  const done: string[] = [];
  postponed.add(() => {
    done.push("first");
    postponed.add(() => done.push("second"));
  });
  while (done.length < 2) await setImmediate();
  assert.deepEqual(done, ["first", "second"]);
});
