import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { loadRunner } from "../../src/backends/onnx/process/load-runner.ts";
import { openOwnGraph } from "../../src/models/architectures/own-graph.ts";
import type { Manifest } from "../../src/models/package/manifest.ts";
import { type ElementType, GraphBuilder, type WeightsFile } from "../../src/onnx/file/graph-builder.ts";
import { sha256 } from "../hub/hub-server.ts";
import { ChangedPackage } from "../support/changed-package.ts";
import { embeddedModel } from "../support/package-root.ts";
import { leavesOfTrees } from "../support/trees.ts";

const ARCHITECTURE = { type: "onnx-joint-pairs", max_tokens: 8, pad_id: 0, bos_id: 2 };
const FOLDERS = { cache: "/nowhere", temporary: "/nowhere" };

/** A graph whose score is the sum of the ids, each times its position. */
function toyGraph(
  change: { ids?: string; mask?: ElementType; scores?: string; weights?: WeightsFile } = {},
): Uint8Array {
  const graph = new GraphBuilder(change.weights);
  const grid = ["batch", "sequence"];
  const ids = graph.input(change.ids ?? "input_ids", "int64", grid);
  const mask = graph.input("attention_mask", change.mask ?? "int64", grid);
  const floats = (value: string) => graph.node("Cast", [value], { to: 1 });
  const all = graph.constant(
    "float32",
    [2048],
    Float32Array.from({ length: 2048 }, (_, i) => i + 1),
  );
  const length = graph.node("Shape", [ids], { start: 1, end: 2 });
  const numbers = graph.node("Slice", [all, graph.integers(0), length]);
  const seen = graph.node("Mul", [graph.node("Mul", [floats(ids), floats(mask)]), numbers]);
  const name = change.scores ?? "scores";
  graph.node("ReduceSum", [seen, graph.integers(1)], { keepdims: 0 }, name);
  graph.output(name, "float32", ["batch"]);
  return graph.build("toy");
}

describe("a package with a graph of its own", () => {
  let changed: ChangedPackage;
  before(async () => {
    changed = await ChangedPackage.of(embeddedModel);
  });
  after(() => changed.remove());

  async function load(graph: Uint8Array, more: readonly string[] = []) {
    await changed.change("model.onnx", () => graph);
    const files = ["model.onnx", "tokenizer.json", ...more];
    const opened = await changed.open(files, { architecture: ARCHITECTURE });
    return loadRunner(opened, "fp32", { threads: 2, stateCacheBytes: 0 }, FOLDERS);
  }

  it("scores each pair as one text, in the order of the leaves", async () => {
    const runner = await load(toyGraph());
    const ids = (...numbers: number[]) => Int32Array.from(numbers);
    const leaves = leavesOfTrees([
      { state: ids(2, 5), questions: [{ tokens: ids(7), candidates: [ids(1), ids(1, 3)] }] },
      { state: ids(2), questions: [{ tokens: ids(), candidates: [ids(4)] }] },
    ]);
    const { scores, forwards } = await runner.score(leaves);
    assert.deepEqual([...scores], [2 + 10 + 21 + 4, 2 + 10 + 21 + 4 + 15, 2 + 8]);
    assert.equal(forwards, 3);
  });

  it("fails for a pair that is longer than the graph takes", async () => {
    const runner = await load(toyGraph());
    const state = new Int32Array(8);
    const tree = { state, questions: [{ tokens: new Int32Array(0), candidates: [Int32Array.of(1)] }] };
    await assert.rejects(runner.score(leavesOfTrees([tree])), /9 tokens, but the graph accepts 8/);
  });

  const faults: readonly (readonly [string, () => Uint8Array, RegExp])[] = [
    ["is no ONNX file", () => Buffer.from("no graph at all"), /not an ONNX file/],
    ["has another input", () => toyGraph({ ids: "ids" }), /no input_ids/],
    ["has an input of another type", () => toyGraph({ mask: "float32" }), /attention_mask/],
    ["has another output", () => toyGraph({ scores: "logits" }), /has the outputs logits; expected scores/],
  ];
  for (const [name, graph, says] of faults) {
    it(`is refused where it ${name}`, async () => {
      await assert.rejects(load(graph()), { kind: "INVALID_MODEL", message: says });
    });
  }

  it("may take constants from files that the manifest names, and from no others", async () => {
    const parts: Uint8Array[] = [];
    const weights: WeightsFile = {
      name: "weights.data",
      append(some) {
        parts.push(...some);
        return { offset: 0, length: 2048 * 4 };
      },
    };
    const graph = toyGraph({ weights });
    await changed.change("weights.data", () => Buffer.concat(parts));
    await assert.rejects(load(graph), {
      kind: "INVALID_MODEL",
      message: /model\.onnx refers to the file "weights\.data", which is not in the manifest/,
    });
    const runner = await load(graph, ["weights.data"]);
    const candidate = Int32Array.of(3, 4);
    const questions = [{ tokens: new Int32Array(0), candidates: [candidate] }];
    const { scores } = await runner.score(leavesOfTrees([{ state: Int32Array.of(2), questions }]));
    assert.deepEqual([...scores], [2 + 6 + 12]);
  });

  it("whose constants would be read beside the file that a link leads to is refused", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "linked-graph-"));
    try {
      const weights: WeightsFile = {
        name: "weights.data",
        append: () => ({ offset: 0, length: 2048 * 4 }),
      };
      const bytes = toyGraph({ weights });
      const data = Buffer.alloc(2048 * 4);
      await mkdir(path.join(folder, "below"));
      await writeFile(path.join(folder, "below/model.onnx"), bytes);
      await writeFile(path.join(folder, "weights.data"), data);
      await symlink("below/model.onnx", path.join(folder, "model.onnx"));
      const files = { "model.onnx": sha256(bytes), "weights.data": sha256(data) };
      const opened = { folder, manifest: { files } as unknown as Manifest }; // no other member is read
      await symlink("/etc/passwd", path.join(folder, "below/weights.data"));
      await assert.rejects(openOwnGraph(opened, "model.onnx", { name: "scores" }), {
        kind: "INVALID_MODEL",
        message: /is a link, and weights\.data is missing beside its target/,
      });
      await rm(path.join(folder, "below/weights.data"));
      await assert.rejects(openOwnGraph(opened, "model.onnx", { name: "scores" }), {
        kind: "INVALID_MODEL",
        message: /is a link, and weights\.data is missing beside its target/,
      });
      await symlink("../weights.data", path.join(folder, "below/weights.data"));
      assert.equal(
        (await openOwnGraph(opened, "model.onnx", { name: "scores" })).graph,
        await realpath(path.join(folder, "below/model.onnx")),
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("is refused where it leads to a file outside of its folder", async () => {
    const weights: WeightsFile = {
      name: "../../etc/passwd",
      append: () => ({ offset: 0, length: 2048 * 4 }),
    };
    await assert.rejects(load(toyGraph({ weights })), { kind: "INVALID_MODEL", message: /etc\/passwd/ });
  });
});
