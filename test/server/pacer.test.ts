import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type PacedQueue, Pacer } from "../../src/server/wire/pacer.ts";

/** A queue with places and without work. */
function queue(changes: Partial<PacedQueue> = {}): PacedQueue {
  return { fullQueue: () => undefined, hasWorkFor: () => false, ...changes };
}

/** Counts turns of the event loop until `isOver`. */
async function countTurns(isOver: () => boolean, onTurn: (turn: number) => void = () => {}): Promise<void> {
  for (let turn = 0; !isOver(); turn += 1) {
    onTurn(turn);
    await setImmediate();
  }
}

/** Lets `count` requests come in one turn. @returns in which turn each passed */
async function burst(pacer: Pacer, count: number, onTurn?: () => void): Promise<number[]> {
  const passed: number[] = [];
  let now = 0;
  for (let at = 0; at < count; at += 1) {
    const turn = pacer.turn();
    if (turn === undefined) passed.push(now);
    else void turn.then(() => passed.push(now));
  }
  await countTurns(
    () => passed.length === count,
    (turn) => {
      now = turn;
      onTurn?.();
    },
  );
  return passed;
}

test("a request on its own passes at once, and so does the next one some turns later", async () => {
  const pacer = new Pacer(queue());
  assert.equal(pacer.turn(), undefined);
  for (let turn = 0; turn < 8; turn += 1) await setImmediate();
  assert.equal(pacer.turn(), undefined);
});

test("requests of a burst pass in their order, some turns apart", async () => {
  const pacer = new Pacer(queue());
  const order: number[] = [];
  const turns = [0, 1, 2].map((at) => pacer.turn()?.then(() => order.push(at)));
  assert.equal(turns[0], undefined);
  assert.equal(pacer.waiting, 2);
  await Promise.all(turns);
  assert.deepEqual(order, [1, 2]);

  const passed = await burst(new Pacer(queue()), 4);
  for (const [at, turn] of passed.slice(1).entries())
    assert.ok(turn - (passed[at] ?? 0) >= 2, String(passed));
});

test("those that are only to be refused pass together", async () => {
  let isFull = false;
  const pacer = new Pacer(queue({ fullQueue: () => (isFull ? "full" : undefined) }));
  const passing = burst(pacer, 9);
  isFull = true;
  assert.equal(new Set((await passing).slice(1)).size, 1);
});

test("while connections come in, the next request waits, but not for ever", async () => {
  const calm = await burst(new Pacer(queue()), 2);
  const pacer = new Pacer(queue());
  const startedAt = performance.now();
  const passed = await burst(pacer, 2, () => pacer.noteConnection());
  assert.ok(performance.now() - startedAt >= 6);
  assert.ok((passed[1] ?? 0) > (calm[1] ?? 0), `${passed} after ${calm}`);
});

test("the next request waits longer while the model has enough work", async () => {
  const pacer = new Pacer(queue({ hasWorkFor: (ms) => ms <= 200 }));
  const startedAt = performance.now();
  await burst(pacer, 2, () => pacer.noteConnection());
  assert.ok(performance.now() - startedAt >= 40);
});
