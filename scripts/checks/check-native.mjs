// Runs the tests of the backend `native` (test/**/*.native.test.ts), which need PyTorch.
//
//     npm run check:native                               installs PyTorch into node_modules/.cache once (a large
// download)
//     DECISION_PYTHON=... npm run check:native           uses a Python that has PyTorch
//     DECISION_TEST_DEVICE=cuda npm run check:native     computes on a GPU
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";

const ROOT = path.join(import.meta.dirname, "../..");
/** The versions of training/requirements.txt. */
const PACKAGES = ["torch==2.15.0", "numpy==2.4.6"];

function pythonWithTorch() {
  if (process.env.DECISION_PYTHON) return process.env.DECISION_PYTHON;
  const venv = path.join(ROOT, "node_modules/.cache/native-torch-2.15.0");
  const python = path.join(venv, "bin/python");
  const marker = path.join(venv, "complete");
  if (existsSync(marker)) return python;
  const run = (program, ...args) => execFileSync(program, args, { stdio: "inherit" });
  run("python3", "-m", "venv", "--clear", venv);
  run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...PACKAGES);
  writeFileSync(marker, "");
  return python;
}

const files = process.argv.slice(2);
const { status } = spawnSync(
  process.execPath,
  // one file at a time: each worker uses all processors and some hundred megabytes
  [
    path.join(ROOT, "scripts/test.mjs"),
    ...(files.length > 0 ? files : ["--lane=native"]),
    "--test-concurrency=1",
    `--test-timeout=${8 * 60_000}`, // a file takes up to two minutes on two processors
  ],
  { stdio: "inherit", env: { ...process.env, DECISION_PYTHON: pythonWithTorch() } },
);
process.exit(status ?? 1);
