// Checks the original server, gemmadecision 0.2.0 from PyPI, against the profile `seed`: no clause may be reported as
// broken.
//
//     npm run check:upstream                         installs the package into node_modules/.cache (Python 3.11 or
// later)
//     UPSTREAM_PYTHON=... npm run check:upstream     uses a Python that has it
//
// Further arguments go to `decision conformance`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pythonWith } from "../python.mjs";
import { writeRandomModel } from "./random-model.mjs";

const PACKAGE = "gemmadecision[serve]==0.2.0";
const ROOT = path.join(import.meta.dirname, "../..");
const START_SECONDS = 60;

const folder = mkdtempSync(path.join(tmpdir(), "upstream-"));
try {
  const python = process.env.UPSTREAM_PYTHON || pythonWith("gemmadecision-0.2.0", [PACKAGE]);
  for (const key of [undefined, "the-key-of-the-check"]) process.exitCode ||= await check(python, key);
} finally {
  rmSync(folder, { recursive: true });
}

async function check(python, key) {
  const model = path.join(folder, "model");
  const digest = writeRandomModel(model);
  const port = await freePort();
  const server = spawn(
    python,
    [
      ...["-m", "granian", "--interface", "asgi", "--host", "127.0.0.1"],
      ...["--port", String(port), "upstream_server:app"],
    ],
    {
      cwd: import.meta.dirname,
      env: {
        ...process.env,
        GEMMADECISION_CONFIG: JSON.stringify({ model_path: model, offline: true }),
        HF_HUB_OFFLINE: "1",
        PYTHONDONTWRITEBYTECODE: "1",
        UPSTREAM_MANIFEST_SHA256: digest,
        ...(key === undefined ? {} : { GEMMADECISION_API_KEY: key }),
      },
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  const end = once(server, "exit");
  try {
    const url = `http://127.0.0.1:${port}`;
    await ready(url, server);
    const args = ["conformance", url, "--profile", "seed", "--timeout", "60", ...process.argv.slice(2)];
    const run = spawn(process.execPath, [path.join(ROOT, "bin/decision.js"), ...args], {
      stdio: "inherit",
      env: { ...process.env, DECISION_API_KEY: key ?? "" },
    });
    const [status] = await once(run, "exit");
    return status ?? 1;
  } finally {
    server.kill();
    await end;
  }
}

async function ready(url, server) {
  for (let waited = 0; waited < START_SECONDS * 4; waited += 1) {
    if (server.exitCode !== null) throw new Error("the server ended before it was ready");
    const response = await fetch(`${url}/ready`).catch(() => undefined);
    if (response?.status === 200) return;
    await sleep(250);
  }
  throw new Error(`the server was not ready after ${START_SECONDS} s`);
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}
