import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { PairRunner } from "../../src/backends/onnx/forwards/pair-runner.ts";
import { PACKING } from "../../src/backends/onnx/runtime/packed-weights.ts";
import { type Node, nodeBelow } from "../../src/inference/nodes.ts";
import type { PairGraph } from "../../src/models/architectures/architecture.ts";
import { packOwnGraph } from "../../src/models/architectures/own-graph.ts";
import { GraphBuilder } from "../../src/onnx/file/graph-builder.ts";
import { bitsOf } from "../support/bits.ts";

const SIZE = 128;
const numbers = (count: number, seed: number) =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(i * 1.7 + seed) / 8);

/** Two layers in which every token sees all others. */
function attentive(): GraphBuilder {
  const graph = new GraphBuilder();
  const ids = graph.input("input_ids", "int64", ["batch", "sequence"]);
  graph.input("attention_mask", "int64", ["batch", "sequence"]);
  let rows = graph.node("Gather", [graph.constant("float32", [64, SIZE], numbers(64 * SIZE, 0)), ids]);
  for (const layer of [1, 2]) {
    const weights = graph.constant("float32", [SIZE, SIZE], numbers(SIZE * SIZE, layer));
    const products = graph.node("MatMul", [rows, weights]);
    const others = graph.node("Transpose", [products], { perm: [0, 2, 1] });
    const seen = graph.node("Softmax", [graph.node("MatMul", [products, others])]);
    rows = graph.node("Tanh", [graph.node("Add", [graph.node("MatMul", [seen, products]), rows])]);
  }
  graph.node("ReduceMean", [rows, graph.integers(1)], { keepdims: 0 }, "logits");
  graph.output("logits", "float32", ["batch", SIZE]);
  return graph;
}

describe("pairs in several threads", { skip: process.platform !== "linux" }, () => {
  let folder: string;
  let packed: PairGraph;
  const STATE = nodeBelow(undefined, new Int32Array());
  const pairOf = (length: number, seed: number): Node =>
    nodeBelow(
      nodeBelow(STATE, new Int32Array()),
      Int32Array.from({ length }, (_, i) => (i * 5 + seed) % 64),
    );
  const common = { kind: "pairs", maxTokens: 200, output: "logits", readings: [7], scale: 1 } as const;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "pairs-"));
    const graph = path.join(folder, "graph.onnx");
    await writeFile(path.join(folder, "plain.onnx"), attentive().build("attentive"));
    await PACKING.pack(path.join(folder, "plain.onnx"), graph, "weights.bin");
    packed = { ...common, graph, sharesWeights: true };
  });
  after(() => rm(folder, { recursive: true }));

  it("have the bits of a pair alone, and of the graph as it came", async () => {
    const pairs = [3, 40, 17, 3, 120, 1, 28, 64, 65, 200].map(pairOf);
    const runner = await PairRunner.load(packed, 3);
    const plain = await PairRunner.load(
      { ...common, graph: await readFile(path.join(folder, "plain.onnx")) },
      1,
    );
    const { scores, forwards } = await runner.score(pairs);
    assert.equal(forwards, pairs.length);
    assert.deepEqual(bitsOf(scores), bitsOf((await plain.score(pairs)).scores));
    for (const [at, pair] of pairs.entries())
      assert.deepEqual(bitsOf((await runner.score([pair])).scores), bitsOf(scores.slice(at, at + 1)));
    assert.equal(new Set(scores).size, pairs.length);
    const batches = [pairs, pairs.slice(3, 4), pairs.slice(0, 2)];
    const atOnce = await Promise.all(batches.map((batch, at) => runner.score(batch, at === 1)));
    assert.deepEqual(
      atOnce.map((each) => bitsOf(each.scores)),
      [scores, scores.slice(3, 4), scores.slice(0, 2)].map((each) => bitsOf(each)),
    );
  });

  it("fail together when one of them fails, and work again afterwards", async () => {
    const runner = await PairRunner.load(packed, 2);
    const tooLong = [pairOf(10, 0), pairOf(201, 0), pairOf(11, 0)];
    await assert.rejects(runner.score(tooLong), /a pair has 201 tokens, but the graph accepts 200/);
    assert.equal((await runner.score([pairOf(10, 0), pairOf(11, 0)])).scores.length, 2);
  });
});

describe("a graph whose weights cannot be packed", () => {
  const never = async () => assert.fail("it was packed");
  const modelPackage = { folder: "/none", manifest: { id: "a/b@c", files: {} } } as never;
  const packing = { pack: never, version: "1" };
  const wish = { form: "fp32", folders: { cache: "/none", temporary: "/none" }, packing } as const;
  const fitting = { elementType: 1, elements: 30_522 * 384 };
  const facts = {
    inputs: [],
    outputs: [],
    domains: [""],
    externalFiles: [],
    constants: [fitting],
    hasSubgraphs: false,
  };
  for (const [what, more] of [
    ["operators of the runtime's own", { domains: ["", "com.microsoft"] }],
    ["subgraphs", { hasSubgraphs: true }],
    ["weights of 16 bits", { constants: [fitting, { elementType: 10, elements: 384 * 384 }] }],
    ["weights between two cache lines", { constants: [{ elementType: 1, elements: 30_521 * 300 }, fitting] }],
  ] as const)
    it(`is used as it is: ${what}`, async () => {
      const own = { graph: new Uint8Array(), facts: { ...facts, ...more } };
      assert.equal(await packOwnGraph(modelPackage, "model.onnx", own, wish), undefined);
    });
});
