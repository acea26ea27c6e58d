import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { before, describe, it } from "node:test";
import { WorkerPool } from "../../src/backends/onnx/forwards/worker-pool.ts";
import { endWith } from "../../src/backends/onnx/forwards/worker-thread.ts";
import { treeModel } from "../../src/backends/tensors/tree-model.ts";
import { shallowGraph, shallowShape } from "./shallow-model.ts";
import { forward, manyCandidates, node, scoresOf } from "./tasks.ts";

describe("forwards in several threads", () => {
  let pool: WorkerPool;
  before(async () => {
    pool = await WorkerPool.start(await shallowGraph("u8u8"), treeModel(shallowShape, 2));
  });

  it("hand keys and values on that a thread has computed", async () => {
    const states = Array.from({ length: 6 }, () => node(0, 80));
    const tasks = states.map((state) => ({ forward: forward({ newPrefix: [state] }), wanted: [state] }));
    const together = await pool.run(tasks, new Map(), "together");
    for (const task of tasks) {
      const alone = await pool.run([task], new Map(), "together");
      assert.deepEqual(together.get(task)?.keyValues, alone.get(task)?.keyValues);
    }
  });

  it("fail together when one of them fails, and work again afterwards", async () => {
    const { first, others } = manyCandidates(4);
    await assert.rejects(pool.run(others, new Map(), "together"), /used before it is encoded/);
    assert.ok((await pool.run([first], new Map(), "together")).has(first));
    assert.equal((await scoresOf(pool, { first, others })).length, 4);
  });

  for (const event of ["exit", "messageerror", "error"]) {
    it(`end the process with a thread of which comes "${event}"`, () => {
      const thread = new EventEmitter();
      endWith(thread);
      assert.throws(() => thread.emit(event, new Error("out of memory")), /a forward thread ended/);
    });
  }

  it("cannot be started with a graph that cannot be read", async () => {
    const model = treeModel(shallowShape, 2);
    await assert.rejects(WorkerPool.start(new Uint8Array(10), model));
  });
});
