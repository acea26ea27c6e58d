// Loaded before each test file. A unit test (CONTRIBUTING.md) that starts a process fails, with the file name that it
// should have. Environment variables that change the behaviour of commands are removed; a test sets those that it
// needs.
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";

const file = process.argv[1] ?? "";
const isUnit = /\.test\.js$/.test(file) && !/\.(integration|deep|page|native)\.test\.js$/.test(file);

const CHANGING =
  /^(CI|FORCE_COLOR|NO_COLOR|NODE_DISABLE_COLORS|CLICOLOR.*|DEBUG|HF_.*|OTEL_.*|DECISION_(?!PYTHON$|TEST_).*)$/;
if (/\.test\.js$/.test(file))
  for (const name of Object.keys(process.env)) if (CHANGING.test(name)) delete process.env[name];

if (isUnit) {
  const name = path.basename(file, ".test.js");
  for (const start of ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"]) {
    childProcess[start] = () => {
      throw new Error(
        `a unit test must not start a process: rename the file to ${name}.integration.test.ts (CONTRIBUTING.md)`,
      );
    };
  }
  syncBuiltinESMExports();
}
