import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settled } from "node:timers/promises";
import { BatchTurns, type Turn } from "../../src/backends/onnx/forwards/batch-turns.ts";

/** Takes turns under letters, and notes which began and ended, in order. */
class Taken {
  readonly turns = new BatchTurns();
  readonly events: string[] = [];
  readonly begun = new Map<string, Turn>();
  readonly end = new Map<string, (error?: Error) => void>();

  take(name: string): Promise<string> {
    return this.turns.take(async (turn) => {
      this.events.push(name);
      this.begun.set(name, turn);
      await new Promise<void>((resolve, reject) => {
        this.end.set(name, (error) => (error ? reject(error) : resolve()));
      });
      this.events.push(`${name}.`);
      return name;
    });
  }
}

test("batches are computed one after another, in the order in which they came", async () => {
  const taken = new Taken();
  const results = ["a", "b"].map((name) => taken.take(name));
  await settled();
  assert.deepEqual(taken.events, ["a"]);
  taken.end.get("a")?.();
  await settled();
  taken.end.get("b")?.();
  assert.deepEqual(await Promise.all(results), ["a", "b"]);
  assert.deepEqual(taken.events, ["a", "a.", "b", "b."]);
});

test("a shared turn lets the next batch begin, and that one the next only when it shares too", async () => {
  const taken = new Taken();
  for (const name of ["a", "b", "c"]) void taken.take(name);
  await settled();
  taken.begun.get("a")?.share();
  await settled();
  assert.deepEqual(taken.events, ["a", "b"]);
  taken.end.get("a")?.();
  await settled();
  assert.deepEqual(taken.events, ["a", "b", "a."]);
  taken.begun.get("b")?.share();
  await settled();
  assert.deepEqual(taken.events, ["a", "b", "a.", "c"]);
});

test("a batch can wait until those before it have ended, also if they fail", async () => {
  const taken = new Taken();
  const failing = taken.take("a");
  void taken.take("b");
  await settled();
  taken.begun.get("a")?.share();
  await settled();
  let isFree = false;
  void taken.begun.get("b")?.othersEnded.then(() => {
    isFree = true;
  });
  await settled();
  assert.equal(isFree, false);
  taken.end.get("a")?.(new Error("no memory"));
  await assert.rejects(failing, /no memory/);
  await settled();
  assert.equal(isFree, true);
});
