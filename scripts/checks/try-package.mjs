// Packs the package, installs it globally into an empty prefix, and sends requests to the installed `decision`.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

const folder = mkdtempSync(path.join(tmpdir(), "try-package-"));
const npm = (...args) =>
  execFileSync("npm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

try {
  const [{ filename, size, entryCount }] = JSON.parse(npm("pack", "--json", "--pack-destination", folder));
  console.log(`${filename}: ${entryCount} files, ${(size / 1e6).toFixed(1)} MB`);
  checkTypes(path.join(folder, filename));
  const prefix = path.join(folder, "prefix");
  // as docs/deployment.md says
  const options = ["--global", "--ignore-scripts", "--prefix", prefix, "--loglevel", "error"];
  npm("install", ...options, path.join(folder, filename));
  await tryInstalled(path.join(prefix, "bin", "decision"));
  await tryWorker(path.join(prefix, "lib/node_modules/@typed-decisions/service/native"));
} finally {
  rmSync(folder, { recursive: true });
}

/** Checks the package's exports, and its types for each way to resolve them. */
function checkTypes(tarball) {
  const exec = (name, command, ...args) =>
    execFileSync("npm", ["exec", "--yes", "--package", name, "--", command, ...args], { stdio: "inherit" });
  // installed here instead of as development dependencies, because the second one includes its own compiler
  exec("publint@0.3.25", "publint", "run", tarball, "--strict");
  // the package is an ES module; both JSON files are data
  const entrypoints = ["--exclude-entrypoints", "openapi.json", "model-manifest.schema.json"];
  exec("@arethetypeswrong/cli@0.18.5", "attw", tarball, "--profile", "esm-only", ...entrypoints);
}

async function tryInstalled(command) {
  // outside the checkout, so that its files are not found by accident
  const service = spawn(command, ["serve", "--port", "0"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = await urlOf(service);
    const response = await fetch(`${url}/v1/rank`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        state: "My card was charged twice.",
        candidates: ["a billing question", "a parcel"],
      }),
    });
    assert.equal(response.status, 200);
    const { ranked } = await response.json();
    assert.equal(ranked.length, 2);
    for (const page of ["/docs", "/redoc", "/redoc/redoc.standalone.js"]) {
      assert.equal((await fetch(url + page)).status, 200, page);
    }
    const page = await fetch(url, { headers: { accept: "text/html" } });
    const [, script] = /src="(playground\/[^"]+)"/.exec(await page.text()) ?? [];
    assert.equal((await fetch(`${url}/${script}`)).status, 200, `the playground's script: ${script}`);
    console.log(`the installed service answers: ${ranked[0].text}`);
  } finally {
    service.kill();
    await new Promise((resolve) => service.once("exit", resolve));
  }
  assert.equal(service.exitCode, 0);
}

/** Starts the Python worker, which must report through its pipes that PyTorch is missing. That needs only Python. */
async function tryWorker(cwd) {
  const args = ["-S", "-m", "decision_native", "cpu", "auto", "batched"]; // without installed packages
  const worker = spawn("python3", args, { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const header = Buffer.from('{"type":"load"}');
  const head = Buffer.from("DN01\0\0\0\0\0\0\0\0"); // native/decision_native/wire.py
  head.writeUInt32LE(header.length, 4);
  worker.stdin.write(Buffer.concat([head, header]));
  const [said] = await once(worker.stdout, "data", { signal: AbortSignal.timeout(60_000) });
  worker.stdin.end();
  assert.match(
    said.toString("utf8", head.length),
    /^\{"type":"refused".* has no (numpy|torch): install both/,
  );
}

async function urlOf(service) {
  for await (const line of createInterface({ input: service.stdout })) {
    const url = /http:\/\/\S+/.exec(line)?.[0];
    if (url) return url;
  }
  throw new Error("the service ended without printing its address");
}
