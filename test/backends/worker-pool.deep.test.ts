import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WorkerPool } from "../../src/backends/onnx/forwards/worker-pool.ts";
import { byteLength, type KeyValues } from "../../src/backends/tensors/key-values.ts";
import { treeModel } from "../../src/backends/tensors/tree-model.ts";
import { shallowGraph, shallowShape } from "./shallow-model.ts";
import { forward, manyCandidates, node, scoresOf } from "./tasks.ts";

/** Of the shallow model, all alike. */
function keyValuesOf(tokens: number, value: number): KeyValues {
  const each = () =>
    Array.from({ length: shallowShape.layers }, () =>
      new Float32Array(tokens * shallowShape.hidden).fill(value / 100),
    );
  return { tokens, keys: each(), values: each() };
}

describe("forwards in several threads", () => {
  it("give the same bits as in one, and leave to the caller what they were given", async () => {
    const graph = await shallowGraph("u8u8");
    const start = (threads: number) => WorkerPool.start(graph, treeModel(shallowShape, threads));
    const [one, several] = [await start(1), await start(3)];
    assert.equal(one.count, 1);
    assert.equal(several.count, 3);
    const work = manyCandidates(7);
    const alone = await scoresOf(one, work);
    assert.equal(alone.length, 7);
    assert.deepEqual(await scoresOf(several, work), alone);
    assert.deepEqual(await scoresOf(several, work), alone);
  });

  it("run in the caller's thread if their keys and values are too large to copy", async () => {
    const graph = await shallowGraph("u8u8");
    const start = (threads: number) => WorkerPool.start(graph, treeModel(shallowShape, threads));
    const [one, several] = [await start(1), await start(2)];
    const states = Array.from({ length: 12 }, () => node(0, 2048));
    const tasks = states.map((state) => {
      const newRest = [node(1, 5, [state])];
      return { forward: forward({ pastPrefix: [state], newRest }), wanted: newRest };
    });
    const known = new Map(states.map((state, i) => [state, keyValuesOf(state.tokens.length, i)]));
    const bytes = [...known.values()].reduce((sum, keyValues) => sum + byteLength(keyValues), 0);
    assert.ok(bytes > 2 * 64 * 2 ** 20);
    const [alone, together] = [
      await one.run(tasks, known, "together"),
      await several.run(tasks, known, "together"),
    ];
    for (const task of tasks) assert.deepEqual(together.get(task)?.keyValues, alone.get(task)?.keyValues);
  });
});
