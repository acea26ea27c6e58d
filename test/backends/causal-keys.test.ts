import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  FEWEST_KEYS,
  keyStride,
  keysOf,
  neededPrefix,
  threadParts,
} from "../../src/backends/tensors/causal-keys.ts";
import { FILLER, numberNodes } from "../../src/backends/tensors/forward-tensors.ts";
import type { Node } from "../../src/inference/nodes.ts";

const node = (level: 0 | 1 | 2, length: number, ...above: Node[]): Node => ({
  level,
  tokens: new Int32Array(length),
  key: "",
  parent: above.at(-1),
});

describe("the keys of a causal model", () => {
  it("are summed in runs that depend on the width of a head", () => {
    const widths = [257, 129, 65, 64, 33, 32, 17, 16, 9];
    assert.deepEqual(widths.map(keyStride), [128, 128, 128, 256, 256, 512, 512, 1024, 1024]);
  });

  it("go on in position where the node above ends, with keys of nobody up to the fewest", () => {
    const state = node(0, 5);
    const question = node(1, 3, state);
    const numbers = numberNodes([state, question]);
    const { padding, nodes, positions } = keysOf([question], [node(2, 2, state, question)], 1, numbers);
    assert.equal(padding, FEWEST_KEYS - 6);
    assert.deepEqual([...nodes.subarray(0, 4)], [2, 2, 2, FILLER]);
    assert.deepEqual([...positions.subarray(0, 4)], [5, 6, 7, 0]);
    assert.deepEqual([...positions.subarray(-3)], [8, 9, 0]);
    assert.equal(nodes.length, FEWEST_KEYS);
  });

  it("are shared out so that every thread has a product of its own, and none has a single row", () => {
    for (const heads of [1, 2, 3, 4, 6, 8, 12]) {
      for (const kvHeads of [1, 2, 3, 4, 6, 8, 12].filter((count) => heads % count === 0)) {
        for (let threads = 1; threads <= 40; threads++) {
          const { parts, multiple } = threadParts({ heads, kvHeads }, threads);
          const rows = ((heads / kvHeads) * 2 * multiple) / parts; // of the smallest chunk
          const what = `${heads} heads, ${kvHeads} of keys, ${threads} threads: ${parts} parts, ${multiple}`;
          assert.ok(kvHeads * parts >= threads, what);
          assert.ok(Number.isInteger(rows) && rows >= 2, what);
        }
      }
    }
  });

  it("are left out where no query of a chunk sees them: whole runs in front, any number behind", () => {
    const state = node(0, 1000);
    const positions = Int32Array.from({ length: 1000 }, (_, i) => i);
    const prefix = { nodes: [state], keys: 1000, newTokens: 1000 };
    const shape = { window: 300, headSize: 256 };
    const chunking = { chunks: 5, chunkSize: 202 };
    const full = neededPrefix("full", shape, prefix, positions, chunking);
    assert.deepEqual(full.from, [0, 0, 0, 0, 0]);
    assert.deepEqual(full.to, [202, 404, 606, 808, 1000]);
    const sliding = neededPrefix("sliding", shape, prefix, positions, chunking);
    // the first query of the last chunk is at 808 and attends from 509 on
    assert.deepEqual(sliding.from, [0, 0, 0, 256, 384]);
    assert.deepEqual(sliding.to, full.to);
  });

  it("are all there for several states together", () => {
    const states = [node(0, 60), node(0, 60)];
    const positions = Int32Array.from({ length: 120 }, (_, i) => i % 60);
    const prefix = { nodes: states, keys: 120, newTokens: 120 };
    const chunking = { chunks: 2, chunkSize: 62 };
    const needed = neededPrefix("sliding", { window: 4, headSize: 256 }, prefix, positions, chunking);
    assert.deepEqual(needed, { from: [0, 0], to: [120, 120] });
  });
});
