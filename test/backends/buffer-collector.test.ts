import assert from "node:assert/strict";
import { it } from "node:test";
import { BufferCollector } from "../../src/backends/onnx/forwards/buffer-collector.ts";

const MIB = 2 ** 20;

it("garbage is collected once 8 MiB may lie there", () => {
  let collected = 0;
  const collector = new BufferCollector(() => {
    collected += 1;
  });
  for (let i = 0; i < 7; i++) collector.allocated(MIB);
  assert.equal(collected, 0);
  collector.allocated(MIB);
  assert.equal(collected, 1);
  collector.allocated(7 * MIB);
  assert.equal(collected, 1);
  collector.allocated(100 * MIB);
  assert.equal(collected, 2);
});

it("nothing is done in a process that cannot collect", () => {
  assert.equal(globalThis.gc, undefined);
  new BufferCollector().allocated(100 * MIB);
});
