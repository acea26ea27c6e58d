import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Tensor } from "onnxruntime-node";
import { causalInputs } from "../../src/backends/onnx/causal-tensors.ts";
import { FILLER } from "../../src/backends/onnx/forward-tensors.ts";
import { ModelRunner } from "../../src/backends/onnx/model-runner.ts";
import { type TreeModel, treeModel } from "../../src/backends/onnx/tree-model.ts";
import { GEMMA3_IO as IO } from "../../src/onnx/gemma3-io.ts";
import { REAL_HEADS, randomGraph, scoreWith } from "./random-gemma3.ts";
import { firstDifference, type Score } from "./same-bits.ts";

/** As many as the test of the causal model draws for each form. */
const COMPOSITIONS = 460;
const ALL_STATES = 256 << 20;
const graph = randomGraph(REAL_HEADS, "fp32");
const sound = (threads = 1) => treeModel(REAL_HEADS, threads);

/** Faults that the test of the same bits must see: each makes a score depend on its company, on the cache or on the threads. */
describe("the property of the same bits does not hold for a causal model", () => {
  it("where states of more than 128 tokens stand together", async () => {
    await mustDiffer(await scorer({ ...sound(), keyBlock: 256 }));
  });

  it("where a block of keys may have 64 or fewer", async () => {
    await mustDiffer(await scorer(fedOtherwise(sound(), withoutPadding)));
  });

  it("where two threads share a product", async () => {
    const shared: TreeModel = {
      ...sound(2),
      inputs: (forward, known) => causalInputs(forward, REAL_HEADS, { parts: 1, multiple: 1 }, known),
    };
    await mustDiffer(await scorer(sound()), await scorer(shared));
  });

  it("where keys are left out in front, but not by whole runs", async () => {
    const early = (feeds: Feeds): Feeds => {
      const from = feeds[IO.prefixFrom("sliding")]?.data;
      assert.ok(from instanceof BigInt64Array);
      const moved = from.map((first) => (first > 0n ? first - 5n : first));
      return { ...feeds, [IO.prefixFrom("sliding")]: new Tensor("int64", moved, [moved.length]) };
    };
    const model = fedOtherwise(sound(), early);
    await mustDiffer(await scorer(model), await scorer(model, ALL_STATES));
  });

  it("where a token's position counts from the begin of the forward", async () => {
    const counted = (feeds: Feeds): Feeds => {
      const length = feeds[IO.ids]?.data.length ?? 0;
      const positions = BigInt64Array.from({ length }, (_, i) => BigInt(i % REAL_HEADS.positions));
      return { ...feeds, [IO.positions]: new Tensor("int64", positions, [length]) };
    };
    await mustDiffer(await scorer(fedOtherwise(sound(), counted)));
  });
});

async function mustDiffer(alone: Score, company: Score = alone): Promise<void> {
  const found = await firstDifference(alone, [company], { seed: 0, compositions: COMPOSITIONS });
  assert.notEqual(found.difference, null, `not seen among ${found.pairs} pairs`);
}

async function scorer(model: TreeModel, stateCacheBytes = 0): Promise<Score> {
  return scoreWith(await ModelRunner.loadModel(graph, model, stateCacheBytes), REAL_HEADS);
}

type Feeds = Record<string, Tensor>;

function fedOtherwise(model: TreeModel, change: (feeds: Feeds) => Feeds): TreeModel {
  return {
    ...model,
    inputs: (forward, known) => {
      const inputs = model.inputs(forward, known);
      return { ...inputs, feeds: change(inputs.feeds) };
    },
  };
}

/** Without the keys of zeros that fill the prefix up, unless it has no others. */
function withoutPadding(feeds: Feeds): Feeds {
  const nodes = feeds[IO.prefixNodes]?.data;
  assert.ok(nodes instanceof Int32Array);
  const padding = nodes.filter((node) => node === FILLER).length;
  if (padding === 0 || padding === nodes.length) return feeds;
  const begin = nodes.indexOf(FILLER);
  const { kvHeads, headSize, layers } = REAL_HEADS;
  const changed: Feeds = { ...feeds };
  const keep = <T>(values: ArrayLike<T>) =>
    Array.from(values).filter((_, i) => i < begin || i >= begin + padding);
  changed[IO.prefixNodes] = new Tensor("int32", Int32Array.from(keep(nodes)), [nodes.length - padding]);
  const positions = feeds[IO.prefixPositions]?.data;
  assert.ok(positions instanceof BigInt64Array);
  changed[IO.prefixPositions] = new Tensor("int64", BigInt64Array.from(keep(positions)), [
    nodes.length - padding,
  ]);
  for (const kind of ["full", "sliding"] as const) {
    const to = feeds[IO.prefixTo(kind)]?.data;
    assert.ok(to instanceof BigInt64Array);
    changed[IO.prefixTo(kind)] = new Tensor(
      "int64",
      to.map((end) => end - BigInt(padding)),
      [to.length],
    );
  }
  assert.equal(kvHeads, 1);
  for (const layer of layers.keys()) {
    const empty = [kvHeads, headSize, 0];
    const keys = feeds[IO.pastKeys("prefix", layer)];
    // only where nothing else is past: the test needs no more
    if (keys?.dims[2] !== padding) return feeds;
    changed[IO.pastKeys("prefix", layer)] = new Tensor("float32", new Float32Array(0), empty);
    changed[IO.pastValues("prefix", layer)] = new Tensor("float32", new Float32Array(0), [
      kvHeads,
      0,
      headSize + 1,
    ]);
  }
  return changed;
}
