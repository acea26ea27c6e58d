import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PairRunner } from "../../src/backends/onnx/forwards/pair-runner.ts";
import { nodeBelow } from "../../src/inference/nodes.ts";
import type { PairGraph } from "../../src/models/architectures/architecture.ts";
import { GraphBuilder } from "../../src/onnx/file/graph-builder.ts";

const SEPARATOR = 9;
const FLOAT = 1;
const FLOAT16 = 10;

/** A classifier with three logits: the sum of the ids, the sum of the token types, the number of tokens that are seen. */
function classifier(ids: "int32" | "int64", logits: "float32" | "float16") {
  const graph = new GraphBuilder();
  const sums = ["input_ids", "token_type_ids", "attention_mask"].map((name) => {
    const numbers = graph.node("Cast", [graph.input(name, ids, ["batch", "sequence"])], { to: FLOAT });
    return graph.node("ReduceSum", [numbers, graph.integers(1)], { keepdims: 1 });
  });
  const to = logits === "float16" ? FLOAT16 : FLOAT;
  graph.node("Cast", [graph.node("Concat", sums, { axis: 1 })], { to }, "logits");
  graph.output("logits", logits, ["batch", 3]);
  return graph.build("classifier");
}

/** A graph in which every token sees all others, with numbers that fill the bits of float32. */
function attentive(): Uint8Array {
  const graph = new GraphBuilder();
  const tokens = graph.input("input_ids", "int64", ["batch", "sequence"]);
  graph.input("attention_mask", "int64", ["batch", "sequence"]);
  const numbers = (count: number) => Float32Array.from({ length: count }, (_, i) => Math.sin(i + 1));
  const rows = graph.node("Gather", [graph.constant("float32", [10, 96], numbers(960)), tokens]);
  const weights = graph.node("Softmax", [
    graph.node("MatMul", [rows, graph.node("Transpose", [rows], { perm: [0, 2, 1] })]),
  ]);
  const seen = graph.node("MatMul", [weights, rows]);
  const product = graph.node("MatMul", [seen, graph.constant("float32", [96, 1], numbers(96))]);
  graph.node("ReduceMean", [product, graph.integers(1)], { keepdims: 0 }, "logits");
  graph.output("logits", "float32", ["batch", 1]);
  return graph.build("attentive");
}

const load = (graph: Uint8Array, more: Partial<PairGraph> = {}) =>
  PairRunner.load(
    { kind: "pairs", graph, maxTokens: 8, output: "logits", readings: [0, 1], scale: 1, ...more },
    2,
  );

const ids = (...numbers: number[]) => Int32Array.from(numbers);
const STATE = nodeBelow(undefined, ids());
/** A pair of one node with tokens. */
const pair = (...numbers: number[]) => nodeBelow(nodeBelow(STATE, ids()), ids(...numbers));

describe("a classifier of pairs", () => {
  for (const type of ["int32", "int64"] as const)
    for (const logits of ["float32", "float16"] as const)
      it(`takes ids in ${type} and gives logits in ${logits}`, async () => {
        const runner = await load(classifier(type, logits));
        const { scores } = await runner.score([pair(1, 4, SEPARATOR, 2), pair(5)]);
        assert.deepEqual([...scores], [16, 5]);
      });

  it("gives the second reading of a pair whose last token is complemented, in the same run", async () => {
    const runner = await load(classifier("int64", "float32"), { readings: [0, 2], scale: 0.5 });
    const asked = nodeBelow(STATE, ids(1, 4, SEPARATOR, 2));
    const yesOrNo = [nodeBelow(asked, ids(SEPARATOR)), nodeBelow(asked, ids(~SEPARATOR))];
    const { scores, forwards } = await runner.score([...yesOrNo, pair(3)]);
    assert.deepEqual([...scores], [12.5, 2.5, 1.5]);
    assert.equal(forwards, 2);
  });

  it("gives the score 0 where the second reading is none", async () => {
    const runner = await load(classifier("int64", "float32"), { readings: [0, null] });
    assert.deepEqual([...(await runner.score([pair(1, 4), pair(1, ~4)])).scores], [5, 0]);
  });

  it("is tried with a pair of special tokens where there is one", async () => {
    const graph = new GraphBuilder();
    graph.input("attention_mask", "int64", ["batch", "sequence"]);
    const tokens = graph.input("input_ids", "int64", ["batch", "sequence"]);
    // fails for any token but the separator
    const places = graph.node("Sub", [tokens, graph.integers(SEPARATOR)]);
    const rows = graph.node("Gather", [graph.constant("float32", [1], Float32Array.of(2)), places]);
    graph.node("ReduceSum", [rows, graph.integers(1)], { keepdims: 1 }, "logits");
    graph.output("logits", "float32", ["batch", 1]);
    const bytes = graph.build("ends");
    const message = /cannot score a pair of 1 tokens/;
    await assert.rejects(load(bytes, { readings: [0] }), { kind: "INVALID_MODEL", message });
    const runner = await load(bytes, { readings: [0], sample: ids(SEPARATOR) });
    assert.deepEqual([...(await runner.score([pair(SEPARATOR, SEPARATOR)])).scores], [4]);
  });

  it("gives the tokens after the first separator the type 1", async () => {
    const runner = await load(classifier("int64", "float32"), { readings: [1], separatorId: SEPARATOR });
    const { scores } = await runner.score([
      pair(1, SEPARATOR, 4, 5, SEPARATOR),
      pair(1, 4),
      pair(1, SEPARATOR),
    ]);
    assert.deepEqual([...scores], [3, 0, 0]);
  });

  it("gives all tokens the type 0 where the model knows no others", async () => {
    const runner = await load(classifier("int64", "float32"), { readings: [1] });
    assert.deepEqual([...(await runner.score([pair(1, SEPARATOR, 4)])).scores], [0]);
  });

  it("gives a pair the same bits in any company", async () => {
    const runner = await load(attentive(), { maxTokens: 64, readings: [0] });
    const lengths = [3, 40, 17, 3, 64, 1, 28];
    const pairs = lengths.map((length, at) => pair(...Array.from({ length }, (_, i) => (i * 5 + at) % 10)));
    const together = (await runner.score(pairs)).scores;
    const alone = await Promise.all(pairs.map(async (each) => (await runner.score([each])).scores[0]));
    assert.deepEqual([...together], alone);
    assert.equal(new Set(alone).size, lengths.length);
  });

  it("is refused if it has fewer logits than are read", async () => {
    const message = /3 numbers for a pair, expected more than 3/;
    const plain = classifier("int64", "float32");
    await assert.rejects(load(plain, { readings: [0, 3] }), { kind: "INVALID_MODEL", message });
  });
});
