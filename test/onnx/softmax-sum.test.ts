import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { InferenceSession, Tensor } from "../../src/backends/onnx/runtime/runtime.ts";
import { sessionOptions } from "../../src/backends/onnx/runtime/session-options.ts";
import { GraphBuilder } from "../../src/onnx/file/graph-builder.ts";
import { anyKeyOf } from "../../src/onnx/layers/softmax-sum.ts";
import { bitsOf } from "../support/bits.ts";
import { seededRandom } from "../support/seeded-random.ts";

const KEYS = 100;
const TOLERANCE = 1e-4;
const random = seededRandom(11);
const products = (of: (key: number) => number) =>
  Float32Array.from({ length: KEYS }, (_, key) => of(key) + random.next());

describe("the key that tells softmax' sum", () => {
  /** Of one head. @returns product and weight for each query */
  let keysOf: (queries: readonly Float32Array[]) => Promise<{ product: Float32Array; weight: Float32Array }>;
  const queries = {
    "see all keys alike": products(() => 0),
    "see the first keys little": products((key) => (key < 50 ? 0 : 55)),
    "do not see the first keys": products((key) => (key < 50 ? -200 : 40)),
    "see one later key": products((key) => (key === 70 ? 84 : 0)),
  };

  before(async () => {
    const graph = new GraphBuilder();
    const input = graph.input("products", "float32", [1, "queries", KEYS]);
    const key = anyKeyOf(graph, input, graph.node("Softmax", [input], { axis: -1 }));
    graph.output(key.product, "float32", [1, "queries", 1]);
    graph.output(key.weight, "float32", [1, "queries", 1]);
    const session = await InferenceSession.create(graph.build("key"), sessionOptions(1));
    keysOf = async (given) => {
      const all = Float32Array.from(given.flatMap((query) => [...query]));
      const results = await session.run({ products: new Tensor("float32", all, [1, given.length, KEYS]) });
      const numbers = (name: string) => {
        const data = results[name]?.data;
        return data instanceof Float32Array ? data : assert.fail("no numbers");
      };
      return { product: numbers(key.product), weight: numbers(key.weight) };
    };
  });

  for (const [name, query] of Object.entries(queries)) {
    it(`is exact for queries that ${name}`, async () => {
      const highest = Math.max(...query);
      const expected = highest + Math.log(query.reduce((sum, x) => sum + Math.exp(x - highest), 0));
      const { product, weight } = await keysOf([query]);
      const found = (product[0] ?? Number.NaN) - Math.log(weight[0] ?? Number.NaN);
      assert.ok(Math.abs(found - expected) < TOLERANCE, `${found} instead of ${expected}`);
    });
  }

  it("has the same bits beside any others", async () => {
    const all = Object.values(queries);
    const together = await keysOf([...all, ...all, ...all.slice(1)]);
    for (const at of together.product.keys()) {
      const alone = await keysOf([all[at < 8 ? at % 4 : at - 7] ?? assert.fail()]);
      assert.deepEqual(bitsOf(together.product).slice(at, at + 1), bitsOf(alone.product));
      assert.deepEqual(bitsOf(together.weight).slice(at, at + 1), bitsOf(alone.weight));
    }
  });
});
