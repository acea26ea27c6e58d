import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { listProcesses } from "../../bench/http/resident-memory.ts";
import { decision } from "../cli/decision.ts";
import { inProcess } from "../cli/in-process.ts";
import { packageRoot } from "../support/package-root.ts";
import { isAlive, until } from "../support/processes.ts";

const folder = mkdtempSync(path.join(tmpdir(), "bench-command-"));
after(() => rmSync(folder, { recursive: true }));

describe("decision bench ends with exit code 2 and says what was expected of", () => {
  const lines = path.join(folder, "mine.jsonl");
  writeFileSync(
    lines,
    '{"state": "s", "candidates": ["a", "b"]}\n{"state": "s", "candidates": ["a", "a"]}\n',
  );
  const full = path.join(folder, "full.json");
  writeFileSync(full, JSON.stringify({ format: "typed-decisions-bench-v1", options: { effort: "full" } }));
  const cases: readonly (readonly [string, string[], RegExp])[] = [
    ["a count", ["--count", "0"], /--count: expected a whole number from 1, got "0"/],
    ["seconds", ["--seconds", "x"], /--seconds: expected a number above 0/],
    ["a rate", ["--rate", "0"], /--rate: expected a number above 0/],
    ["a part", ["--part", "all"], /--part/],
    ["a workload", ["--workload", "x"], /--workload: expected one of short, .*mixed/],
    ["a URL", ["--url", "nowhere"], /the URL of a server: expected an address like/],
    ["an option of the service", ["--max-batch-size", "0"], /--max-batch-size/],
    ["an earlier report that is not there", ["--compare", path.join(folder, "none")], /--compare/],
    ["an earlier report that is none", ["--compare", lines], /is not a report/],
    ["an earlier report of a full run, for a quick one", ["--compare", full], /is a full run.*add --full/],
    ["the user's own requests", ["--requests", lines], /line 2: candidates/],
    [
      "a server where HTTP is not measured",
      ["--url", "http://x", "--part", "memory"],
      /--url needs --part http/,
    ],
    ["a rate where HTTP is not measured", ["--rate", "5", "--part", "memory"], /--rate needs/],
    ["a page in no folder", ["--report", "/no/such/page.html"], /--report .* cannot be written/],
    ["a flag", ["--nope"], /--nope/],
  ];
  for (const [name, args, says] of cases) {
    it(name, async () => {
      const { status, stdout, stderr } = await inProcess(["bench", ...args]);
      assert.equal(status, 2, stderr);
      assert.match(stderr, says);
      assert.equal(stdout, "");
    });
  }

  it("no one, for --help, and loads nothing heavy", () => {
    const { status, stderr, stdout } = decision(["bench", "--help"], { env: { NODE_DEBUG: "module" } });
    assert.equal(status, 0);
    assert.match(stdout, /--against/);
    assert.doesNotMatch(
      stderr,
      /node_modules\/(onnxruntime-node|tokenizers|fastify|undici|hdr-histogram-js)\//,
    );
  });
});

it("decision bench ends every process that it started on Ctrl-C", async () => {
  const bench = spawn(
    process.execPath,
    [path.join(packageRoot, "bin/decision.js"), "bench", "--part", "http"],
    {
      stdio: "ignore",
    },
  );
  const exited = once(bench, "exit");
  const below = () => descendants(bench.pid ?? 0);
  // the service and its inference process
  let started = below();
  for (; started.length < 2 && bench.exitCode === null; started = below()) await wait(50);
  bench.kill("SIGINT");
  const [code] = await exited;
  assert.equal(code, 1);
  // an inference process that lost its service ends by itself
  await until(() => !started.some(isAlive), "every process has ended");
});

function descendants(pid: number): number[] {
  const children = listProcesses().filter(({ parent, pid: own }) => parent === pid && own !== pid);
  return children.flatMap((child) => [child.pid, ...descendants(child.pid)]);
}
