// Runs the tests of the backend `native` (test/**/*.native.test.ts), which need PyTorch.
//
//     npm run check:native                               installs PyTorch into node_modules/.cache once (a large
// download)
//     DECISION_PYTHON=... npm run check:native           uses a Python that has PyTorch
//     DECISION_TEST_DEVICE=cuda npm run check:native     computes on a GPU
import { spawnSync } from "node:child_process";
import path from "node:path";
import { pythonWith } from "../python.mjs";

const ROOT = path.join(import.meta.dirname, "../..");
/** The versions of training/requirements.txt. */
const PACKAGES = ["torch==2.15.0", "numpy==2.4.6"];

const DECISION_PYTHON = process.env.DECISION_PYTHON || pythonWith("native-torch-2.15.0", PACKAGES);
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
  { stdio: "inherit", env: { ...process.env, DECISION_PYTHON } },
);
process.exit(status ?? 1);
