import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { it } from "node:test";
import { pathToFileURL } from "node:url";
import { packageRoot } from "./support/package-root.ts";

it("a test file does not see what its surroundings say of colours, options and keys", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "surroundings-"));
  try {
    const file = path.join(folder, "env.test.js");
    writeFileSync(file, "console.log(Object.keys(process.env).join())");
    const guard = pathToFileURL(path.join(packageRoot, "scripts/test-guard.mjs")).href;
    const env = { CI: "1", FORCE_COLOR: "1", DECISION_PORT: "1", HF_TOKEN: "x", DECISION_PYTHON: "python3" };
    const { stdout } = spawnSync(process.execPath, ["--import", guard, file], { encoding: "utf8", env });
    assert.equal(stdout.trim(), "DECISION_PYTHON");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
