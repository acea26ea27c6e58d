import assert from "node:assert/strict";
import { fork, spawnSync } from "node:child_process";
import { it } from "node:test";

it("a unit test that starts a process fails with the name that it should have", () => {
  const says = /rename the file to lanes\.integration\.test\.ts/;
  assert.throws(() => spawnSync(process.execPath, ["--version"]), says);
  assert.throws(() => fork("none"), says);
});
