import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { packageRoot } from "../../../test/support/package-root.ts";
import { CHECKS } from "../src/clauses.ts";
import { FaultyService, KEY } from "./faulty-service.ts";

const MOST_BYTES = 3_000_000;

let service: FaultyService;
let folder: string;
let installed: string;
before(async () => {
  service = await FaultyService.start({ apiKey: KEY });
  folder = mkdtempSync(path.join(tmpdir(), "conformance-package-"));
  const packed = execFileSync(
    process.execPath,
    [path.join(packageRoot, "scripts/pack-conformance.mjs"), folder],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  ).trim();
  const prefix = path.join(folder, "prefix");
  // offline: it needs no other package
  execFileSync("npm", [
    "install",
    "--global",
    "--offline",
    "--prefix",
    prefix,
    "--loglevel",
    "error",
    packed,
  ]);
  installed = prefix;
});
after(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const { DECISION_API_KEY: _, ...inherited } = process.env;
  const child = spawn(path.join(installed, "bin/decision-conformance"), args, {
    cwd: folder,
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr]: [string[], string[]] = [[], []];
  child.stdout.on("data", (chunk) => stdout.push(String(chunk)));
  child.stderr.on("data", (chunk) => stderr.push(String(chunk)));
  const [status] = await once(child, "close");
  return { status, stdout: stdout.join(""), stderr: stderr.join("") };
}

describe("the package @typed-decisions/conformance, installed in an empty prefix", () => {
  it("takes at most 3 MB", () => {
    const files = readdirSync(installed, { recursive: true, withFileTypes: true });
    const bytes = files
      .filter((file) => file.isFile())
      .map((file) => statSync(path.join(file.parentPath, file.name)).size);
    const sum = bytes.reduce((one, other) => one + other, 0);
    assert.ok(sum <= MOST_BYTES, `${sum} bytes`);
  });

  it("holds a server to the clauses, contract and all", async () => {
    const { status, stdout } = await run([service.url, "--only", "docs", "--only", "rank", "--json"], {
      DECISION_API_KEY: KEY,
    });
    const { counts, results } = JSON.parse(stdout);
    assert.equal(status, 0, stdout);
    assert.deepEqual([counts.failed, counts.skipped], [0, 0]);
    const wanted = CHECKS.filter(({ id }) => /^(docs|rank)\./.test(id));
    assert.equal(results.length, wanted.length);
  });

  it("fails by a broken clause, and reads flags as the command does", async () => {
    service.plant({ answer: (body) => void body.delete("ranked") });
    const { status, stdout } = await run([service.url, "--only", "rank.rows"], { DECISION_API_KEY: KEY });
    service.plant({});
    assert.equal(status, 1);
    assert.match(stdout, /FAIL.* rank\.rows/);
  });

  for (const { name, args, says } of [
    { name: "no address", args: [], says: /Expected one argument/ },
    { name: "an unknown flag", args: ["http://127.0.0.1:1", "--nope"], says: /--nope/ },
    {
      name: "another profile",
      args: ["http://127.0.0.1:1", "--profile", "x"],
      says: /seed, full, .*got "x"/,
    },
    {
      name: "two forms",
      args: ["http://127.0.0.1:1", "--json", "--github"],
      says: /--github without --json/,
    },
  ]) {
    it(`ends with 2 for ${name}`, async () => {
      const { status, stderr } = await run(args);
      assert.equal(status, 2);
      assert.match(stderr, says);
    });
  }

  it("is a library too", async () => {
    const index = path.join(installed, "lib/node_modules/@typed-decisions/conformance/dist/index.js");
    const { runConformance } = await import(pathToFileURL(index).href);
    const report = await runConformance({ baseUrl: service.url, apiKey: KEY, only: ["health.status"] });
    assert.equal(report.exitCode, 0);
  });
});
