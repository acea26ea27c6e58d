import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { sessionOptions } from "../../src/backends/onnx/session-options.ts";
import { GraphBuilder } from "../../src/onnx/graph-builder.ts";
import { logSumOf } from "../../src/onnx/token-tree-attention.ts";
import { bitsOf } from "../support/bits.ts";
import { seededRandom } from "../support/seeded-random.ts";

const KEYS = 100;
const TOLERANCE = 1e-4;
const random = seededRandom(11);
const products = (of: (key: number) => number) =>
  Float32Array.from({ length: KEYS }, (_, key) => of(key) + random.next());

describe("the logarithm of softmax' sum", () => {
  /** Products of queries of one head. @returns a logarithm for each */
  let logSums: (queries: readonly Float32Array[]) => Promise<Float32Array>;
  const even = products(() => 0);
  const far = products((key) => (key < 50 ? -200 : 40));
  const peaked = products((key) => (key === 70 ? 84 : 0));

  before(async () => {
    const graph = new GraphBuilder();
    const input = graph.input("products", "float32", [1, "queries", KEYS]);
    const logSum = logSumOf(graph, input, graph.node("Softmax", [input], { axis: -1 }));
    graph.output(logSum, "float32", [1, "queries", 1]);
    const session = await InferenceSession.create(graph.build("log-sum"), sessionOptions(1));
    logSums = async (queries) => {
      const all = Float32Array.from(queries.flatMap((query) => [...query]));
      const results = await session.run({ products: new Tensor("float32", all, [1, queries.length, KEYS]) });
      const data = results[logSum]?.data;
      return data instanceof Float32Array ? data : assert.fail("no numbers");
    };
  });

  for (const [name, query] of Object.entries({ even, far, peaked })) {
    it(`is exact for ${name} products`, async () => {
      const highest = Math.max(...query);
      const expected = highest + Math.log(query.reduce((sum, x) => sum + Math.exp(x - highest), 0));
      const [found = Number.NaN] = await logSums([query]);
      assert.ok(Math.abs(found - expected) < TOLERANCE, `${found} instead of ${expected}`);
    });
  }

  it("has the same bits beside queries for which the first keys do not tell it", async () => {
    const [alone = assert.fail()] = bitsOf(await logSums([even]));
    assert.deepEqual(bitsOf(await logSums([far, even, peaked])).slice(1, 2), [alone]);
  });
});
