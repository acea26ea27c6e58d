import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CHECKS } from "../src/clauses.ts";
import { githubAnnotations, jsonReport, junitReport, terminalReport } from "../src/reporters/index.ts";
import type { Report, Result } from "../src/run/report.ts";
import { selectChecks } from "../src/run/select.ts";
import { clauseOf } from "../src/trial/check.ts";

/** A report with one result of each kind, and text that every format must escape. */
const EVIL = "<script>alert('x')</script> & \u001b[31mred\u0000 # 100 %\nnext line";
const results: Result[] = CHECKS.slice(0, 4).map((check, index) => {
  const outcome = (["passed", "failed", "skipped", "accepted"] as const)[index] ?? "passed";
  const came = outcome === "passed" ? "" : EVIL;
  return {
    ...clauseOf(check),
    outcome,
    came,
    reason: outcome === "accepted" ? EVIL : undefined,
    curl: outcome === "failed" ? `curl '${EVIL}'` : undefined,
    elapsedMs: 5,
  };
});
const report: Report = {
  server: "http://127.0.0.1:8700/",
  model: undefined,
  profile: "full",
  isGentle: false,
  startedAt: "2026-11-21T00:00:00.000Z",
  elapsedMs: 1234,
  requests: 10,
  obstacle: undefined,
  exitCode: 1,
  counts: { passed: 1, failed: 1, accepted: 1, skipped: 1 },
  seed: 4711,
  shard: "2/4",
  fixed: [CHECKS[0]?.id ?? ""],
  skips: [{ reason: EVIL, clauses: [CHECKS[2]?.id ?? ""] }],
  unobserved: [{ rule: EVIL, source: "contract: Requests", why: EVIL }],
  results,
};

describe("a report", () => {
  it("is the same facts as JSON", () => {
    assert.deepEqual(JSON.parse(jsonReport(report)), JSON.parse(JSON.stringify(report)));
  });

  it("is JUnit XML that XML can hold", () => {
    const xml = junitReport(report);
    assert.match(xml, /<testsuites [^>]*tests="5" failures="1" errors="0" skipped="3"/);
    assert.doesNotMatch(xml, /[^\P{Cc}\n]/u);
    assert.ok(!xml.replaceAll(/<!\[CDATA\[[\s\S]*?\]\]>/g, "").includes("<script>"));
  });

  it("is annotations of one line each, which a server cannot end", () => {
    const lines = githubAnnotations(report).trimEnd().split("\n");
    assert.deepEqual(
      lines.map((line) => line.split(" ")[0]),
      ["::error", "::notice", "::notice"],
    );
    assert.match(
      lines[0] ?? "",
      /^::error title=health\.ready::.*%0Acame: .*100 %25%0Anext line.*seed: 4711$/,
    );
    assert.doesNotMatch(lines.join(""), /\p{Cc}/u);
  });

  it("says how many were skipped and why, and what no client can observe, in every form", () => {
    for (const text of [jsonReport(report), junitReport(report)]) assert.ok(text.includes("next line"));
    assert.match(junitReport(report), /conformance\.unobserved/);
    assert.match(terminalReport(report, { isColoured: false }), /1 rules cannot be observed/);
  });

  it("is lines for a terminal that obey nothing of the server", () => {
    const text = terminalReport(report, { isColoured: false });
    assert.ok(!text.includes("\u001b") && !text.includes("\u0000"));
    assert.match(text, /FAIL health\.ready/);
    assert.match(text, /1 kept, 1 broken, 1 accepted, 1 skipped/);
  });
});

describe("the table of clauses", () => {
  it("has ids that are stable in form and given once", () => {
    const ids = CHECKS.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const id of ids) assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+$/);
  });

  it("names a place in the contract for each", () => {
    for (const { id, source, profile } of CHECKS) {
      assert.match(source, /^(interface|contract): /, id);
      assert.equal(profile === "seed", source.startsWith("interface"), id);
    }
  });
});

describe("clauses are chosen by", () => {
  const ids = (only: readonly string[], skip: readonly string[] = []) =>
    selectChecks(CHECKS, { profile: "full", only, skip, isGentle: false, shard: undefined }).map(
      ({ id }) => id,
    );
  for (const { name, only, skip, want } of [
    { name: "an id", only: ["rank.order"], want: ["rank.order"] },
    { name: "a beginning", only: ["overload"], want: ["overload.refused", "overload.counted"] },
    { name: "a pattern", only: ["*.temperature"], want: ["systemone.temperature", "rank.temperature"] },
    { name: "what is left out", only: ["overload"], skip: ["*.counted"], want: ["overload.refused"] },
  ]) {
    it(name, () => assert.deepEqual(ids(only, skip), want));
  }

  it("the profile", () => {
    const seed = selectChecks(CHECKS, {
      profile: "seed",
      only: [],
      skip: [],
      isGentle: false,
      shard: undefined,
    });
    assert.ok(seed.length > 80 && seed.every(({ source }) => source.startsWith("interface")));
  });
});
