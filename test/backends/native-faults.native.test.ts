import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { workerFolder } from "../../src/backends/native/begin-native.ts";
import { startNativeProcess } from "../../src/backends/native/native-process.ts";
import { ChildBackend } from "../../src/backends/process/child-backend.ts";
import { systemClock } from "../../src/inference/clock.ts";
import { type ModelPackage, openModelPackage } from "../../src/models/package/package.ts";
import { embeddedModel } from "../support/package-root.ts";
import { plantedFolder } from "../support/tested-backends.ts";
import { leavesOfTrees, type TokenTree } from "../support/trees.ts";

const modelPackage = await openModelPackage(embeddedModel);

function backendWith(
  fault: string,
  choice: { device?: string; precision?: string } = {},
  other: ModelPackage = modelPackage,
  stateCacheBytes = 0,
): ChildBackend {
  const planted = { ...process.env, PYTHONPATH: plantedFolder, TORCH_PLANTED_FAULT: fault };
  const chosen = { device: "cpu", precision: "auto", strict: false, ...choice };
  return new ChildBackend({
    modelPackage: other,
    startProcess: () => startNativeProcess(chosen, workerFolder, planted),
    threads: 1,
    stateCacheBytes,
    hangMs: 60_000,
    loadMs: 300_000,
    clock: systemClock,
    log: () => {},
  });
}

const pair = (length: number): TokenTree => ({
  state: new Int32Array(length).fill(2026),
  questions: [{ tokens: Int32Array.of(2029, 102), candidates: [Int32Array.of(101, 2053, 102)] }],
});

describe("the worker says in one sentence, with a remedy, that it lacks", () => {
  const { manifest } = modelPackage;
  const otherVocabulary = {
    ...modelPackage,
    manifest: {
      ...manifest,
      architecture: { ...manifest.architecture, vocab: 7 } as typeof manifest.architecture,
    },
  };
  for (const { name, fault = "", choice = {}, other, kind, says } of [
    {
      name: "PyTorch",
      fault: "no torch",
      kind: "BACKEND_FAILED",
      says: /^The backend native needs PyTorch and NumPy, and .* has no torch: install both \(python3 -m pip install torch numpy\), or name another Python with DECISION_PYTHON\.$/,
    },
    {
      name: "one that can be imported",
      fault: "broken torch",
      kind: "BACKEND_FAILED",
      says: /^torch of .* cannot be imported \(ImportError: libtorch_cpu\.so: cannot open shared object file\): install it anew/,
    },
    {
      name: "a new enough Python",
      fault: "old python",
      kind: "BACKEND_FAILED",
      says: /^The backend native needs Python 3\.9 or later, and .* is Python 3\.8: name another one with DECISION_PYTHON\.$/,
    },
    {
      name: "a new enough PyTorch",
      fault: "old torch",
      kind: "BACKEND_FAILED",
      says: /^The backend native needs PyTorch 2\.1 or later, not 2\.0\.1: update it, or name another Python with DECISION_PYTHON\.$/,
    },
    {
      name: "a driver that works",
      fault: "broken driver",
      choice: { device: "auto" },
      kind: "BACKEND_FAILED",
      says: /^--device auto cannot be used: CUDA driver error: system not yet initialized\.$/,
    },
    {
      name: "memory for the model",
      fault: "load memory",
      kind: "BACKEND_FAILED",
      says: /^The model cannot be loaded on cpu: there is not enough memory\. Lower --max-batch-tokens/,
    },
    {
      name: "numbers of the precision that are large enough for the model",
      fault: "load nan",
      choice: { precision: "fp16" },
      kind: "BACKEND_FAILED",
      says: /^The model cannot be loaded on cpu: a score is not a finite number: fp16 ends at 65,504, bf16 and fp32 do not\.$/,
    },
    {
      name: "a GPU of that number, or any",
      choice: { device: "cuda:99" },
      kind: "INVALID_OPTION",
      says: /^--device cuda:99 (needs a PyTorch with CUDA, and \S+ has none|finds no usable GPU: .+|is not there: this machine has .+)/,
    },
    {
      name: "Apple's GPU",
      choice: { device: "mps" },
      kind: "INVALID_OPTION",
      says: /^--device mps needs macOS on Apple silicon/,
      skip: process.platform === "darwin",
    },
    {
      name: "a tensor of the shape that the manifest says",
      other: otherVocabulary,
      kind: "INVALID_MODEL",
      says: /^model\.safetensors has word\.weight in shape \[65407, 384\], expected \[7, 384\]\.$/,
    },
  ]) {
    it(name, async () => {
      const backend = backendWith(fault, choice, other);
      await assert.rejects(backend.start(), { kind, message: says });
      await backend.close();
    });
  }
});

it("what PyTorch prints while it is imported goes to stderr, however much it is", async () => {
  const backend = backendWith("chatty torch");
  await backend.start();
  assert.equal((await backend.score(leavesOfTrees([pair(3)]))).scores.length, 1);
  await backend.close();
});

it("a forest with a score that is no number fails, and its states are not kept", async () => {
  const backend = backendWith("nan", {}, modelPackage, 2 ** 20);
  await backend.start();
  const message = /^a score is not a finite number\.$/;
  await assert.rejects(backend.score(leavesOfTrees([pair(101)])), { kind: "BACKEND_FAILED", message });
  await assert.rejects(backend.score(leavesOfTrees([pair(101)])), { kind: "BACKEND_FAILED", message });
  assert.equal((await backend.score(leavesOfTrees([pair(3)]))).scores.length, 1);
  assert.equal(backend.counters().stateHits, 0);
  await backend.close();
});

it("a forest without enough memory fails with a message, and the next one is answered", async () => {
  const backend = backendWith("memory");
  await backend.start();
  const message = /^there is not enough memory\. Lower --max-batch-tokens or --state-cache-mb/;
  await assert.rejects(backend.score(leavesOfTrees([pair(101)])), { kind: "BACKEND_FAILED", message });
  assert.equal((await backend.score(leavesOfTrees([pair(3)]))).scores.length, 1);
  await backend.close();
});
