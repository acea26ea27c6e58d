import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { compareReports } from "../../bench/report/compare.ts";
import { measurementsOf, type Report } from "../../bench/report/report.ts";
import { decision } from "../cli/decision.ts";
import { packageRoot } from "../support/package-root.ts";

const folder = mkdtempSync(path.join(tmpdir(), "bench-command-"));
after(() => rmSync(folder, { recursive: true }));

/** The fewest requests possible: this test only checks that the bench works. */
const FEW = ["--count", "1", "--seconds", "0.02"];

describe("decision bench", () => {
  const page = path.join(folder, "report.html");
  const ended = decision(["bench", ...FEW, "--json", "--report", page]);
  const report = (): Report => JSON.parse(ended.stdout);

  it("measures everything with a few requests, without progress where nobody looks", () => {
    assert.equal(ended.status, 0, ended.stderr);
    assert.equal(ended.stderr, "");
  });

  it("--json says what was measured, on what and with what", () => {
    const { format, seed, machine, versions, model, options, startedAt, commit } = report();
    assert.equal(format, "typed-decisions-bench-v1");
    assert.equal(seed, 1);
    assert.equal(options.count, 1);
    assert.ok(machine.cpu && machine.processors >= 1 && Array.isArray(machine.flags));
    assert.ok(versions.node && versions.onnxruntime && versions.package);
    assert.match(model?.id ?? "", /@[0-9a-f]{40}$/);
    assert.match(model?.weightsSha256 ?? "", /^[0-9a-f]{64}$/);
    assert.ok(!Number.isNaN(Date.parse(startedAt)));
    assert.equal(commit === null, !existsSync(path.join(packageRoot, ".git")));
  });

  it("--json holds every figure, each with its rounds", () => {
    const figures = measurementsOf(report());
    const names = figures.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length, "a name stands for one figure");
    for (const name of [
      "http.service.closed.1.throughput",
      "http.service.open.0.p50",
      "memory.ready",
      "memory.idle",
    ]) {
      assert.ok(names.includes(name), name);
    }
    for (const { name, rounds, value } of figures.filter(({ name }) => !name.includes(".open."))) {
      assert.ok(rounds.length >= 1 && Number.isFinite(value), name);
    }
  });

  it("checked every answer and got what was asked for", () => {
    for (const { closed, open } of report().http?.servers ?? []) {
      for (const { statuses, failures } of [...closed, ...open]) {
        assert.deepEqual(failures, {});
        assert.ok(Object.keys(statuses).every((status) => status === "200"));
      }
      assert.ok(closed.every(({ latency }) => latency.count >= 1));
      assert.deepEqual(
        closed.map(({ callers }) => callers),
        [1],
        "one request has one caller",
      );
    }
  });

  it("--report writes a page that refers to nothing outside of it", () => {
    const html = readFileSync(page, "utf8");
    assert.match(html, /<svg .*Throughput against concurrency/);
    assert.doesNotMatch(html, /(?:src|href)\s*=\s*["']?(?!data:,)[^"'\s>]|url\(|@import|https?:|<script/);
    assert.match(html, /default-src 'none'/);
  });

  it("--compare shows another such run beside it", () => {
    const earlier = path.join(folder, "earlier.json");
    writeFileSync(earlier, ended.stdout);
    const again = decision(["bench", ...FEW, "--part", "memory", "--compare", earlier]);
    assert.equal(again.status, 0, again.stderr);
    assert.match(again.stdout, /memory\.ready .* too few rounds/);
  });

  it("compares with itself: nothing is better or worse", () => {
    for (const { ratio, verdict, name, old } of compareReports(report(), report())) {
      assert.ok(ratio === 1 || old === 0 || !Number.isFinite(old), name);
      assert.ok(verdict === "within noise" || verdict === "too few rounds", name);
    }
  });
});
