// Loaded before each test file: a unit test (docs/testing.md) that starts a process fails and is told how to be named.
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";

const file = process.argv[1] ?? "";
const isUnit = /\.test\.js$/.test(file) && !/\.(integration|deep|page|native)\.test\.js$/.test(file);

if (isUnit) {
  const name = path.basename(file, ".test.js");
  for (const start of ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"]) {
    childProcess[start] = () => {
      throw new Error(
        `a unit test starts no process: call the file ${name}.integration.test.ts (docs/testing.md)`,
      );
    };
  }
  syncBuiltinESMExports();
}
