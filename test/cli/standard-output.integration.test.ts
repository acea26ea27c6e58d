import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { writeTinyPackage } from "../models/tiny-package.ts";
import { startFastService } from "../support/fast-service.ts";
import { packageRoot } from "../support/package-root.ts";

const folder = mkdtempSync(path.join(tmpdir(), "output-"));
const inFolder = (name: string) => path.join(folder, name);
writeFileSync(inFolder("q.json"), '{"q": {"type": "noul", "instructions": "Yes?"}}');
writeFileSync(inFolder("rows.jsonl"), '{"state": "a", "q": true}\n{"state": "b", "q": false}\n');
writeFileSync(inFolder("keys.txt"), `a sha256:${"0".repeat(64)}\n`);

let service: Awaited<ReturnType<typeof startFastService>>;
before(async () => {
  await writeTinyPackage(inFolder("package"));
  service = await startFastService();
});
after(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const QUESTION = ["--state", "x", "--question", "y"];
const ROWS = ["--questions", "q.json", "--input", "rows.jsonl"];
/** Command lines for each way in which commands write. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  "--version": [],
  serve: ["--port", "0"],
  decide: QUESTION,
  mcp: [],
  batch: ROWS,
  "keys:add": ["b", "--keys-file", "keys.txt"],
  "model:show": ["twig"],
  conformance: ["URL", "--only", "model.id-form", "--timeout", "10"],
  bench: ["--url", "URL", "--part", "http", "--count", "1", "--seconds", "1", "--rate", "5"],
};
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};

const SENTENCE = "decision: standard output cannot be written:";

/** Runs a command whose standard output cannot be written: a full disk, or a pipe that its reader has closed. */
async function run(line: readonly string[], to: "full" | "closed") {
  const own = ["serve", "model"].includes(line[0] ?? "");
  const child = spawn(process.execPath, [path.join(packageRoot, "bin/decision.js"), ...line], {
    cwd: folder,
    env: {
      ...process.env,
      XDG_DATA_HOME: folder,
      ...(own ? { DECISION_MODEL_PATH: "package" } : { DECISION_URL: service.url }),
    },
    stdio: ["pipe", to === "full" ? openSync("/dev/full", "w") : "pipe", "pipe"],
  });
  child.stdin?.on("error", () => {}).write(`${JSON.stringify(INITIALIZE)}\n`);
  child.stdout?.destroy();
  assert.ok(child.stderr);
  const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  return { status, stderr };
}

describe("standard output that cannot be written", {
  skip: existsSync("/dev/full") ? false : "there is no /dev/full",
}, () => {
  for (const [name, args] of Object.entries(LINES)) {
    it(`ends with 1 and a sentence: ${name}`, async () => {
      const line = [...name.split(":"), ...args].map((word) => (word === "URL" ? service.url : word));
      const { status, stderr } = await run(line, "full");
      assert.equal(status, 1, stderr);
      assert.ok(stderr.includes(`${SENTENCE} its disk is full (ENOSPC).\n`), stderr);
      assert.doesNotMatch(stderr, /^ +at /m);
    });
  }

  for (const name of ["batch", "mcp"])
    it(`ends with 1 and a sentence if its reader has closed it: ${name}`, async () => {
      const { status, stderr } = await run([name, ...(LINES[name] ?? [])], "closed");
      assert.equal(status, 1, stderr);
      assert.ok(stderr.includes(`${SENTENCE} its reader has closed it (EPIPE).\n`), stderr);
      assert.doesNotMatch(stderr, /^ +at /m);
    });
});
