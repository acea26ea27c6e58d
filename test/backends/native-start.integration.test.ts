import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { startNativeProcess } from "../../src/backends/native/native-process.ts";
import { ChildBackend } from "../../src/backends/process/child-backend.ts";
import { createEngine } from "../../src/engine.ts";
import { systemClock } from "../../src/inference/clock.ts";
import { openModelPackage } from "../../src/models/package/package.ts";
import { resolveOptions } from "../../src/options/resolve.ts";
import { jointPackage } from "../support/gemma3.ts";
import { embeddedModel } from "../support/package-root.ts";

const modelPackage = await openModelPackage(embeddedModel);
const folder = mkdtempSync(path.join(tmpdir(), "native-start-"));
after(() => rmSync(folder, { recursive: true }));

/** A program in place of Python. @returns its path */
function program(name: string, text: string, mode = 0o755): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

function backendOf(python: string, env: NodeJS.ProcessEnv = {}, loadMs = 60_000): ChildBackend {
  const choice = { device: "cpu", precision: "auto", strict: false };
  return new ChildBackend({
    modelPackage,
    startProcess: () =>
      startNativeProcess(choice, folder, { PATH: process.env.PATH, ...env, DECISION_PYTHON: python }),
    threads: 1,
    stateCacheBytes: 0,
    hangMs: 60_000,
    loadMs,
    clock: systemClock,
    log: () => {},
  });
}

describe("the native backend says before it is ready", () => {
  for (const [name, python, says, loadMs] of [
    ["that there is no Python", "/nowhere/python", /\/nowhere\/python was not found\. Install Python/],
    [
      "that it may not be run",
      program("unusable", "#!/bin/sh\n", 0o644),
      /cannot run .*unusable: it is not executable\. Install Python/,
    ],
    [
      "that it ended at once",
      program("ends", "#!/bin/sh\nexit 3\n"),
      /ended while loading the model \(exit code 3\)\. Run .*ends -c "import numpy, torch" to see why\. DECISION_PYTHON must/,
    ],
    [
      "that it may have run out of memory",
      program("killed", "#!/bin/sh\nkill -9 $$\n"),
      /ended while loading the model \(SIGKILL\)\. Unless someone killed it, .* memory ran out/,
    ],
    [
      "that it does not answer",
      program("hangs", "#!/bin/sh\nexec sleep 1000\n"),
      /did not load the model within 0\.3 s\. Run .*hangs -c "import numpy, torch" to see why\. DECISION_PYTHON must/,
      300,
    ],
    [
      "that it prints a word",
      program("word", "#!/bin/sh\nprintf hi; cat > /dev/null\n"),
      /word wrote something else than messages to standard output/,
    ],
    [
      "that it is no Python",
      program("prints", "#!/bin/sh\necho a banner of a wrapper; cat > /dev/null\n"),
      /prints wrote something else than messages to standard output\. DECISION_PYTHON must name a Python/,
    ],
  ] as const) {
    it(name, async () => {
      const backend = backendOf(python, {}, loadMs);
      await assert.rejects(backend.start(), { kind: "BACKEND_FAILED", message: says });
      await backend.close();
    });
  }

  it("that a package brings a graph of its own", async () => {
    const options = resolveOptions({ backend: "native", "model-path": jointPackage("onnx-export").folder });
    const message = /has its own ONNX graph, which the backend native cannot run\. Use --backend onnx/;
    await assert.rejects(createEngine(options), { kind: "INVALID_OPTION", message });
  });
});

it("the worker is told the options, and neither keys nor tokens", async () => {
  const tell = `#!${process.execPath}
    const facts = { device: process.argv.slice(2).join(" "), precision: JSON.stringify(process.env) };
    const text = Buffer.from(JSON.stringify({ type: "loaded", facts }));
    const head = Buffer.from("DN01________");
    head.writeUInt32LE(text.length, 4);
    head.writeUInt32LE(0, 8);
    process.stdin.once("data", () => process.stdout.write(Buffer.concat([head, text])));
  `;
  const backend = backendOf(program("tells.cjs", tell), {
    DECISION_API_KEY: "secret",
    HF_TOKEN: "secret",
    CUDA_VISIBLE_DEVICES: "1",
    OMP_NUM_THREADS: "3",
    PYTHONPATH: "/of/the/operator",
  });
  await backend.start();
  const { device, precision } = backend.facts ?? { device: "", precision: "{}" };
  await backend.close();
  assert.equal(device, "-m decision_native cpu auto batched");
  const env = JSON.parse(precision);
  assert.doesNotMatch(precision, /secret/);
  assert.equal(env.PYTHONPATH, `${folder}:/of/the/operator`);
  assert.deepEqual([env.CUDA_VISIBLE_DEVICES, env.OMP_NUM_THREADS], ["1", "3"]);
  assert.equal(env.OMP_WAIT_POLICY, "PASSIVE");
});
