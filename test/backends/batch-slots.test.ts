import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settled } from "node:timers/promises";
import { BatchSlots, type Slot } from "../../src/backends/onnx/forwards/batch-slots.ts";

/** Runs batches under letters, and notes which began and ended, in order. */
class Taken {
  readonly slots = new BatchSlots();
  readonly events: string[] = [];
  readonly begun = new Map<string, Slot>();
  readonly end = new Map<string, (error?: Error) => void>();

  take(name: string): Promise<string> {
    return this.slots.run(async (slot) => {
      this.events.push(name);
      this.begun.set(name, slot);
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

test("a released slot lets the next batch begin, and that one the next only when it releases its own too", async () => {
  const taken = new Taken();
  for (const name of ["a", "b", "c"]) void taken.take(name);
  await settled();
  taken.begun.get("a")?.release();
  await settled();
  assert.deepEqual(taken.events, ["a", "b"]);
  taken.end.get("a")?.();
  await settled();
  assert.deepEqual(taken.events, ["a", "b", "a."]);
  taken.begun.get("b")?.release();
  await settled();
  assert.deepEqual(taken.events, ["a", "b", "a.", "c"]);
});

test("a batch can wait until those before it have ended, also if they fail", async () => {
  const taken = new Taken();
  const failing = taken.take("a");
  void taken.take("b");
  await settled();
  taken.begun.get("a")?.release();
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
