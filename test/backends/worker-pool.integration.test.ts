import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { before, describe, it } from "node:test";
import { shareOut, WorkerPool, type WorkerSettings } from "../../src/backends/onnx/forwards/worker-pool.ts";
import { endWith, WorkerThread } from "../../src/backends/onnx/forwards/worker-thread.ts";
import type { ForwardTask } from "../../src/backends/tensors/forward.ts";
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

  it("give the last worker, with a heap of its own, only what runs side by side", async ({ mock }) => {
    const start = mock.method(WorkerThread, "start");
    const own = await WorkerPool.start(await shallowGraph("u8u8"), treeModel(shallowShape, 2));
    const workers = await Promise.all(start.mock.calls.map(({ result }) => result));
    const settings = start.mock.calls.map(({ arguments: [, workerData] }) => workerData as WorkerSettings);
    assert.deepEqual(
      settings.map(({ isForSmall }) => isForSmall),
      [false, true],
    );
    const runs = workers.map((worker) => mock.method(worker ?? assert.fail("not started"), "run").mock);
    const tasks = Array.from({ length: 4 }, () => ({
      forward: forward({ newPrefix: [node(0, 80)] }),
      wanted: [],
    }));
    await own.run(tasks, new Map(), "together");
    assert.deepEqual(
      runs.map((each) => each.callCount()),
      [1, 0],
    );
    await own.run(tasks, new Map(), "side by side");
    assert.deepEqual(
      runs.map((each) => each.callCount()),
      [2, 1],
    );
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

describe("tasks", () => {
  const task = (count: number): ForwardTask => ({
    forward: forward({ newPrefix: [node(0, count)] }),
    wanted: [],
  });
  const sizes = (counts: readonly number[]) => {
    const { inAllThreads, sideBySide } = shareOut(counts.map(task), new Map());
    const sizeOf = ({ forward }: ForwardTask) => forward.newPrefix[0]?.tokens.length;
    return [inAllThreads.map(sizeOf), sideBySide.map(sizeOf)];
  };

  it("run side by side, the longest first", () => {
    assert.deepEqual(sizes([90, 100, 80]), [[], [100, 90, 80]]);
    assert.deepEqual(sizes([1000, 900]), [[], [1000, 900]]);
  });

  it("run alone, in all threads, if they take much longer than the others", () => {
    assert.deepEqual(sizes([50]), [[50], []]);
    assert.deepEqual(sizes([50, 12]), [[], [50, 12]]);
    assert.deepEqual(sizes([40, 1000, 40]), [[1000], [40, 40]]);
    assert.deepEqual(sizes([40, 1000, 300, 80]), [
      [1000, 300],
      [80, 40],
    ]);
  });
});
