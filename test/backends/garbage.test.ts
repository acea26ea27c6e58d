import assert from "node:assert/strict";
import { it } from "node:test";
import { Garbage } from "../../src/backends/onnx/forwards/garbage.ts";

const MIB = 2 ** 20;

it("garbage is collected once 8 MiB may lie there", () => {
  let collected = 0;
  const garbage = new Garbage(() => {
    collected += 1;
  });
  for (let i = 0; i < 7; i++) garbage.note(MIB);
  assert.equal(collected, 0);
  garbage.note(MIB);
  assert.equal(collected, 1);
  garbage.note(7 * MIB);
  assert.equal(collected, 1);
  garbage.note(100 * MIB);
  assert.equal(collected, 2);
});

it("nothing is done in a process that cannot collect", () => {
  assert.equal(globalThis.gc, undefined);
  new Garbage().note(100 * MIB);
});
