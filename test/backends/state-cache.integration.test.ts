import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { ModelRunner } from "../../src/backends/onnx/forwards/model-runner.ts";
import { InferenceSession } from "../../src/backends/onnx/runtime/runtime.ts";
import { LONG_STATE } from "../../src/backends/tensors/forward.ts";
import { systemClock } from "../../src/inference/clock.ts";
import type { Node } from "../../src/inference/nodes.ts";
import { Scheduler } from "../../src/inference/queue/scheduler.ts";
import { TOKEN_TREE_IO } from "../../src/onnx/token-tree-io.ts";
import { SETTINGS } from "../inference/queue-bench.ts";
import { leavesOfTrees, planOf, type TokenTree } from "../support/trees.ts";
import { shallowGraph, shallowShape } from "./shallow-model.ts";

const graph = await shallowGraph("fp32");

describe("a state that was seen a moment ago", () => {
  const state = Int32Array.from({ length: 300 }, (_, i) => 2000 + i);
  const ask = (question: number): readonly TokenTree[] => [
    {
      state,
      questions: [
        { tokens: Int32Array.of(question, 102), candidates: [Int32Array.of(101, 2053, 102)] },
        { tokens: Int32Array.of(question, 7, 102), candidates: [Int32Array.of(101, 2054, 102)] },
      ],
    },
  ];

  /** A runner, and the number of input tokens of each of its forwards so far. */
  async function watchedRunner(stateCacheBytes: number) {
    const fed: number[] = [];
    const create = mock.method(InferenceSession, "create");
    const runner = await ModelRunner.load(graph, shallowShape, { threads: 1, stateCacheBytes });
    const session = await create.mock.calls[0]?.result;
    create.mock.restore();
    assert.ok(session);
    const run = session.run.bind(session);
    mock.method(session, "run", (feeds: InferenceSession.FeedsType, fetches: string[]) => {
      fed.push(feeds[TOKEN_TREE_IO.ids]?.size ?? 0);
      return run(feeds, fetches);
    });
    return { runner, fed };
  }

  it("is not encoded again, unless the cache is off, and its pairs have the same bits", async () => {
    const scores: Uint8Array[] = [];
    const tokens: number[][] = [];
    for (const stateCacheBytes of [256 * 2 ** 20, 0]) {
      const { runner, fed } = await watchedRunner(stateCacheBytes);
      for (const question of [2029, 2030, 2029]) {
        const { scores: found } = await runner.score(leavesOfTrees(ask(question)));
        scores.push(
          new Uint8Array(found.buffer.slice(found.byteOffset, found.byteOffset + found.byteLength)),
        );
      }
      tokens.push(fed);
    }
    const [warm = [], off = []] = tokens;
    assert.equal(warm.length, 3);
    assert.deepEqual(off, [warm[0], warm[0], warm[0]], "without a cache each request encodes the state");
    assert.ok((warm[0] ?? 0) >= 300);
    for (const count of warm.slice(1)) assert.ok(count < 20, `${count} tokens of a warm state`);
    assert.deepEqual(scores.slice(3), scores.slice(0, 3));
    assert.deepEqual(scores[2], scores[0]);
  });

  it("is encoded once for two requests of one batch, and not again for one of a later batch", async () => {
    const { runner, fed } = await watchedRunner(256 * 2 ** 20);
    const backend = {
      isReady: true,
      isExpected: true,
      score: (leaves: readonly Node[]) => runner.score(leaves),
      onReady: () => {},
      start: async () => {},
      close: async () => {},
    };
    const scheduler = new Scheduler(backend, systemClock, {
      ...SETTINGS,
      batchWaitMs: 10_000,
      maxBatchRequests: 2,
    });
    scheduler.open();
    const take = (question: number) => {
      const { signal } = new AbortController();
      const place = scheduler.admit({ signal, deadlineAt: Number.POSITIVE_INFINITY });
      for (const tree of ask(question)) scheduler.submit(place, planOf(tree));
      return place.answer;
    };
    await Promise.all([take(2029), take(2030)]); // the second fills the batch
    assert.equal(scheduler.counters().batches, 1);
    const both = fed.reduce((sum, tokens) => sum + tokens, 0);
    assert.ok(both >= 300 && both < 350, `${both} tokens for two requests on a state of 300`);
    fed.length = 0;
    await Promise.all([take(2031), take(2032)]);
    assert.ok(fed.reduce((sum, tokens) => sum + tokens, 0) < 50, `${fed} tokens of a warm state`);
  });

  it("keeps its values while others are encoded in the same buffers", async () => {
    const { runner, fed } = await watchedRunner(256 * 2 ** 20);
    const long = (first: number): TokenTree[] =>
      ask(2029).map((tree) => ({
        ...tree,
        state: Int32Array.from({ length: 900 }, (_, at) => first + (at % 50)),
      }));
    const { scores } = await runner.score(leavesOfTrees(long(1000)));
    for (const first of [1100, 1200]) await runner.score(leavesOfTrees(long(first)));
    fed.length = 0;
    assert.deepEqual((await runner.score(leavesOfTrees(long(1000)))).scores, scores);
    assert.ok(
      fed.every((tokens) => tokens < 900),
      `not encoded again: ${fed}`,
    );
  });

  it("is cached beside as many others as fit into the cache", async () => {
    const bytes = 600 * shallowShape.layers * 2 * shallowShape.hidden * 4;
    for (const [cacheBytes, isCached] of [
      [bytes, true],
      [bytes - 1, false],
    ] as const) {
      const { runner, fed } = await watchedRunner(cacheBytes);
      const other = ask(2029).map((tree) => ({ ...tree, state: state.toReversed() }));
      for (const forest of [ask(2029), other]) await runner.score(leavesOfTrees(forest));
      fed.length = 0;
      await runner.score(leavesOfTrees(ask(2030)));
      assert.equal((fed[0] ?? 0) < 300, isCached, `${fed}`);
    }
  });

  it("is cached from the shortest length on", async () => {
    const shortest = LONG_STATE;
    for (const tokens of [shortest - 1, shortest]) {
      const { runner, fed } = await watchedRunner(256 * 2 ** 20);
      const [tree] = ask(2029);
      assert.ok(tree);
      const short = { ...tree, state: state.slice(0, tokens) };
      await runner.score(leavesOfTrees([short]));
      await runner.score(leavesOfTrees([short]));
      assert.equal((fed[1] ?? 0) < tokens, tokens === shortest, `${tokens} tokens: ${fed}`);
    }
  });
});
