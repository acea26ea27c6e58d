import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { nativeRows } from "../../src/devices/devices.ts";
import { pythonDevices } from "../../src/devices/python-devices.ts";

describe("what a Python says of its devices", { skip: process.platform === "win32" }, () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "python-devices-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  /** A program in place of Python. */
  function python(script: string, mode = 0o755): string {
    const file = path.join(folder, `python-${Math.random()}`);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, mode);
    return file;
  }
  const reason = async (file: string, timeoutMs?: number) => {
    const answer = await pythonDevices(file, timeoutMs);
    assert.ok("reason" in answer, JSON.stringify(answer));
    return answer.reason.replace(file, "PYTHON");
  };

  it("none is there", async () => {
    assert.equal(await reason("/nowhere/python"), "there is no PYTHON; DECISION_PYTHON names another Python");
  });

  it("it may not be executed", async () => {
    assert.match(await reason(python("", 0o644)), /^PYTHON may not be executed/);
  });

  it("it has no PyTorch, as the worker says it", async () => {
    const says = /^The backend native needs PyTorch and NumPy, and \S+ has no numpy: install both/;
    assert.match(await reason(python(`exec python3 -S "$@"`)), says); // without the folder of packages
  });

  it("it hangs", async () => {
    assert.equal(await reason(python("exec sleep 60"), 300), "PYTHON did not answer within 0.3 s");
  });

  it("it fails", async () => {
    assert.equal(
      await reason(python("echo first >&2; echo 'bad magic' >&2; exit 3")),
      "PYTHON failed: bad magic",
    );
  });

  it("it is no Python", async () => {
    assert.equal(
      await reason(python("echo hello")),
      "PYTHON answered what is no answer of Python with PyTorch",
    );
  });

  it("it gets no key", async () => {
    process.env.DECISION_API_KEY = "secret";
    try {
      const file = python(`echo "{\\"refusal\\": \\"key <$DECISION_API_KEY>\\"}"`);
      assert.equal(await reason(file), "key <>");
    } finally {
      delete process.env.DECISION_API_KEY;
    }
  });

  it("has GPUs, with their names and memory", async () => {
    const answer = {
      torch: "2.9.0",
      cudaVersion: "13.0",
      cuda: [{ name: "GPU A", bytes: 2 ** 34 }],
      mps: false,
    };
    const found = await pythonDevices(python(`echo a warning; echo '${JSON.stringify(answer)}'`));
    assert.deepEqual(found, answer);
    const rows = nativeRows(found).map(({ device, isUsable, details }) => [device, isUsable, details]);
    assert.deepEqual(rows.slice(1), [
      ["cuda:0", true, "GPU A, 16.0 GiB"],
      ["mps", false, "PyTorch finds no Metal: it needs macOS on Apple silicon"],
    ]);
  });

  it("tells PyTorch without CUDA from a machine without a GPU", () => {
    const facts = { torch: "2.9.0", cuda: [], mps: true };
    const details = (cudaVersion: string | null) => nativeRows({ ...facts, cudaVersion })[1]?.details;
    assert.equal(details(null), "this build of PyTorch has no CUDA");
    assert.equal(details("13.0"), "PyTorch finds no CUDA GPU, or no driver");
  });
});
