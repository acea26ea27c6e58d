import assert from "node:assert/strict";
import { it } from "node:test";
import { settle } from "./fake-clock.ts";
import { QueueBench } from "./queue-bench.ts";
import { makeTree } from "./scripted-backend.ts";

const node = (id: number) => ({ id, length: 2 });
const two = makeTree(node(1), [{ question: node(10), candidates: [node(100), node(200)] }]);
const first = makeTree(node(1), [{ question: node(10), candidates: [node(100)] }]);

it("vectors come to the pairs they belong to, and back from the cache with the score", async () => {
  const bench = new QueueBench({ cacheSize: 10 });
  const asked = bench.admit(two);
  asked.submit();
  await settle();
  bench.backend.current?.answer(Float32Array.of(7, 8), Float32Array.of(1, 2, 3, 4, 5, 6));
  await settle();
  const [answer] = asked.answers;
  assert.ok(answer && "scores" in answer);
  assert.deepEqual(answer.vectors, [Float32Array.of(1, 2, 3, 4, 5, 6)]);

  const again = bench.admit(first);
  again.submit();
  await settle();
  const [known] = again.answers;
  assert.ok(known && "scores" in known);
  assert.deepEqual([known.cachedPairs, bench.backend.calls.length], [1, 1]);
  assert.deepEqual(known.scores, [Float32Array.of(7)]);
  assert.deepEqual(known.vectors, [Float32Array.of(1, 2, 3)]);
});

it("vectors that do not fit the pairs, or are not finite, are no answer", async () => {
  for (const vectors of [Float32Array.of(1, 2, 3), Float32Array.of(1, Number.NaN)]) {
    const bench = new QueueBench();
    const asked = bench.admit(two);
    asked.submit();
    for (let attempt = 0; attempt < 2; attempt++) {
      await settle();
      bench.backend.current?.answer(Float32Array.of(7, 8), vectors);
    }
    await settle();
    const [answer] = asked.answers;
    assert.ok(answer && "kind" in answer && answer.kind === "BACKEND_FAILED");
  }
});
