import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { chooseDevice, onnxDevices } from "../../src/backends/onnx/process/choose-device.ts";
import { startOnnxProcess } from "../../src/backends/onnx/process/onnx-process.ts";
import { systemClock } from "../../src/inference/clock.ts";
import { listNodes } from "../../src/inference/nodes.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { GraphBuilder } from "../../src/onnx/file/graph-builder.ts";
import { ChangedPackage } from "../support/changed-package.ts";
import { embeddedModel } from "../support/package-root.ts";
import { leavesOfTrees } from "../support/trees.ts";

/** Debian's Chromium brings a Vulkan loader and SwiftShader, a Vulkan driver that computes on the CPU. */
const CHROMIUM = "/usr/lib/chromium";
const LOADER = path.join(CHROMIUM, "libvulkan.so.1");
const DRIVER = path.join(CHROMIUM, "vk_swiftshader_icd.json");
const isThere = process.arch === "x64" && existsSync(LOADER) && existsSync(DRIVER);

const ids = (...numbers: number[]) => Int32Array.from(numbers);
/** A graph whose score is the sum of one weight per id. */
function sumGraph(): Uint8Array {
  const graph = new GraphBuilder();
  const tokens = graph.input("input_ids", "int64", ["batch", "sequence"]);
  graph.input("attention_mask", "int64", ["batch", "sequence"]);
  const weights = graph.constant(
    "float32",
    [10, 1],
    Float32Array.from({ length: 10 }, (_, i) => i / 2),
  );
  const each = graph.node("Gather", [weights, tokens]);
  graph.node("ReduceSum", [each, graph.integers(1, 2)], { keepdims: 0 }, "scores");
  graph.output("scores", "float32", ["batch"]);
  return graph.build("sum");
}

describe("WebGPU by a driver in software", {
  skip: isThere ? false : "needs Debian's chromium on x64",
}, () => {
  const given = { ...process.env };
  let folder: string;
  let changed: ChangedPackage;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "vulkan-"));
    symlinkSync(LOADER, path.join(folder, "libvulkan.so.1"));
    process.env.LD_LIBRARY_PATH = folder;
    process.env.VK_ICD_FILENAMES = DRIVER;
    changed = await ChangedPackage.of(embeddedModel);
  });
  after(async () => {
    process.env = given;
    rmSync(folder, { recursive: true });
    await changed.remove();
  });

  const unlogged = () => assert.fail("nothing is to be logged");
  const options = { device: "webgpu", precision: "fp32" as const, hasVectors: false };

  it("is found", async () => {
    assert.deepEqual((await onnxDevices()).at(-1), { device: "webgpu", isAvailable: true });
  });

  it("the embedded model is refused, with the reason", async () => {
    const modelPackage = await openModelPackage(embeddedModel);
    await assert.rejects(chooseDevice({ ...options, modelPackage }, unlogged), {
      kind: "INVALID_OPTION",
      message:
        /webgpu cannot be used: it takes \d+ ms for pairs that one processor computes in \d+ ms.*Available here: cpu/,
    });
  });

  it("a graph whose operators it has is computed there, and rightly", async () => {
    await changed.change("model.onnx", sumGraph);
    const architecture = { type: "onnx-joint-pairs", max_tokens: 3072, pad_id: 0, bos_id: 2 };
    const modelPackage = await changed.open(["model.onnx", "tokenizer.json"], { architecture });
    const trial = await chooseDevice({ ...options, modelPackage }, unlogged).catch(String);
    assert.match(trial, /^webgpu$|it takes \S+ ms for pairs that one processor computes in/);
    const child = startOnnxProcess("fp32");
    try {
      const answer = new Promise((resolve) => {
        const load = {
          modelPackage,
          threads: 2,
          stateCacheBytes: 0,
          device: "webgpu",
          loadMs: 60_000,
          clock: systemClock,
        };
        void child.load(load, { answer: resolve, pong: () => {}, exit: resolve }).then(() => {
          const questions = [{ tokens: ids(3), candidates: [ids(4), ids(5, 6)] }];
          const nodes = listNodes(leavesOfTrees([{ state: ids(1, 2), questions }]));
          child.send({ type: "score", id: 1, isAlone: true, nodes });
        }, resolve);
      });
      const { scores } = (await answer) as { scores: Float32Array };
      assert.deepEqual([...scores], [5, 8.5]);
    } finally {
      await child.end();
    }
  });
});
