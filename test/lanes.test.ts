import assert from "node:assert/strict";
import { fork, spawnSync } from "node:child_process";
import { it } from "node:test";

it("a unit test that starts a process is told how to be named", () => {
  const says = /call the file lanes\.integration\.test\.ts/;
  assert.throws(() => spawnSync(process.execPath, ["--version"]), says);
  assert.throws(() => fork("none"), says);
});
