import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import { endWith } from "../../src/backends/onnx/forwards/forward-helper.ts";
import { shareOut } from "../../src/backends/onnx/forwards/forward-rounds.ts";
import { ForwardThreads } from "../../src/backends/onnx/forwards/forward-threads.ts";
import type { Forward, ForwardTask, Node } from "../../src/backends/tensors/forward.ts";
import { byteLength, type KeyValues } from "../../src/backends/tensors/key-values.ts";
import { treeModel } from "../../src/backends/tensors/tree-model.ts";
import { bitsOf } from "../support/bits.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { shallowGraph, shallowShape } from "./shallow-model.ts";

const random = seededRandom(5);
const tokens = (count: number) => Int32Array.from({ length: count }, () => 1000 + random.below(28_000));
const node = (level: Node["level"], count: number, above: readonly Node[] = []): Node => ({
  level,
  tokens: tokens(count),
  above,
});
const forward = (parts: Partial<Forward>): Forward => ({
  pastPrefix: [],
  pastRest: [],
  newPrefix: [],
  newRest: [],
  ...parts,
});

/** A state with its question, and forwards of a candidate each, which need both. */
function manyCandidates(count: number): { readonly first: ForwardTask; readonly others: ForwardTask[] } {
  const state = node(0, 100);
  const question = node(1, 10, [state]);
  const candidate = () => node(2, 20, [state, question]);
  return {
    first: { forward: forward({ newPrefix: [state], newRest: [question] }), wanted: [state, question] },
    others: Array.from({ length: count }, () => ({
      forward: forward({ pastPrefix: [state], pastRest: [question], newRest: [candidate()] }),
      wanted: [],
    })),
  };
}

/** Of the shallow model, all alike. */
function keyValuesOf(tokens: number, value: number): KeyValues {
  const each = () =>
    Array.from({ length: shallowShape.layers }, () =>
      new Float32Array(tokens * shallowShape.hidden).fill(value / 100),
    );
  return { tokens, keys: each(), values: each() };
}

async function scoresOf(threads: ForwardThreads, { first, others }: ReturnType<typeof manyCandidates>) {
  const results = await threads.run([first], new Map());
  const keyValues = results.get(first)?.keyValues ?? [];
  const known = new Map(first.wanted.map((wanted, i) => [wanted, keyValues[i] ?? assert.fail("not kept")]));
  const scored = await threads.run(others, known);
  return others.flatMap((task) => bitsOf(scored.get(task)?.scores ?? assert.fail("not run")));
}

describe("forwards in several threads", () => {
  it("give the same bits as in one, and leave to the caller what they were given", async () => {
    const graph = await shallowGraph("u8u8");
    const start = (threads: number) => ForwardThreads.start(graph, treeModel(shallowShape, threads));
    const [one, several] = [await start(1), await start(3)];
    assert.equal(one.count, 1);
    assert.equal(several.count, 3);
    const work = manyCandidates(7);
    const alone = await scoresOf(one, work);
    assert.equal(alone.length, 7);
    assert.deepEqual(await scoresOf(several, work), alone);
    assert.deepEqual(await scoresOf(several, work), alone);
  });

  it("hand keys and values on that a thread has computed", async () => {
    const graph = await shallowGraph("u8u8");
    const threads = await ForwardThreads.start(graph, treeModel(shallowShape, 2));
    const states = Array.from({ length: 6 }, () => node(0, 80));
    const tasks = states.map((state) => ({ forward: forward({ newPrefix: [state] }), wanted: [state] }));
    const together = await threads.run(tasks, new Map());
    for (const task of tasks) {
      const alone = await threads.run([task], new Map());
      assert.deepEqual(together.get(task)?.keyValues, alone.get(task)?.keyValues);
    }
  });

  it("keep two callers' results apart", async () => {
    const threads = await ForwardThreads.start(await shallowGraph("u8u8"), treeModel(shallowShape, 2));
    const [one, other] = [manyCandidates(5), manyCandidates(6)];
    const apart = [await scoresOf(threads, one), await scoresOf(threads, other)];
    assert.deepEqual(await Promise.all([scoresOf(threads, one), scoresOf(threads, other)]), apart);
  });

  it("are run where the keys and values are that are too many to be given away", async () => {
    const graph = await shallowGraph("u8u8");
    const start = (threads: number) => ForwardThreads.start(graph, treeModel(shallowShape, threads));
    const [one, several] = [await start(1), await start(2)];
    const states = Array.from({ length: 12 }, () => node(0, 2048));
    const tasks = states.map((state) => {
      const newRest = [node(1, 5, [state])];
      return { forward: forward({ pastPrefix: [state], newRest }), wanted: newRest };
    });
    const known = new Map(states.map((state, i) => [state, keyValuesOf(state.tokens.length, i)]));
    const bytes = [...known.values()].reduce((sum, keyValues) => sum + byteLength(keyValues), 0);
    assert.ok(bytes > 2 * 64 * 2 ** 20);
    const [alone, together] = [await one.run(tasks, known), await several.run(tasks, known)];
    for (const task of tasks) assert.deepEqual(together.get(task)?.keyValues, alone.get(task)?.keyValues);
  });

  it("fail together when one of them fails, and work again afterwards", async () => {
    const threads = await ForwardThreads.start(await shallowGraph("u8u8"), treeModel(shallowShape, 2));
    const { first, others } = manyCandidates(4);
    await assert.rejects(threads.run(others, new Map()), /used before it is encoded/);
    assert.ok((await threads.run([first], new Map())).has(first));
    assert.equal((await scoresOf(threads, { first, others })).length, 4);
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
    await assert.rejects(ForwardThreads.start(new Uint8Array(10), model));
  });
});

describe("tasks", () => {
  const task = (count: number): ForwardTask => ({
    forward: forward({ newPrefix: [node(0, count)] }),
    wanted: [],
  });
  const sizes = (counts: readonly number[]) => {
    const { alone, sideBySide } = shareOut(counts.map(task));
    const sizeOf = ({ forward }: ForwardTask) => forward.newPrefix[0]?.tokens.length;
    return [alone.map(sizeOf), sideBySide.map(sizeOf)];
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
