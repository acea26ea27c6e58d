import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { packageRoot } from "./support/package-root.ts";

const GOOD = `
  import { describe, it } from "node:test";
  describe("good", () => { it("one", () => {}); it("two", (t) => t.skip("no reason")); });
`;
const BAD = `
  import assert from "node:assert";
  import { it } from "node:test";
  it("three", () => assert.equal(1, 2));
`;

describe("the reporter of the test runs", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "reporter-"));
    writeFileSync(path.join(folder, "bad.test.mjs"), BAD);
    writeFileSync(path.join(folder, "good.test.mjs"), GOOD);
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Runs files where nobody looks. @returns the lines that came */
  function linesFor(...files: string[]): { readonly status: number | null; readonly lines: string[] } {
    const reporter = pathToFileURL(path.join(packageRoot, "scripts/test-reporter.mjs")).href;
    const { NODE_TEST_CONTEXT: _, ...env } = process.env; // this run's own
    const { status, stdout } = spawnSync(
      process.execPath,
      ["--test", `--test-reporter=${reporter}`, ...files],
      {
        cwd: folder,
        encoding: "utf8",
        env: { ...env, NO_COLOR: "1", TEST_FILES: String(files.length) },
      },
    );
    return { status, lines: stdout.split("\n") };
  }

  it("names each file done, what was skipped and what failed, and ends with the runner's summary", () => {
    const { status, lines } = linesFor("bad.test.mjs", "good.test.mjs");
    assert.equal(status, 1);
    const progress = lines.filter((line) => /^\[[12]\/2\] 0:\d\d, \d tests: .*\.test\.mjs$/.test(line));
    assert.equal(progress.length, 2, lines.join("\n"));
    assert.ok(lines.some((line) => /^FAILED .*bad\.test\.mjs: three$/.test(line)));
    assert.ok(lines.some((line) => /^skipped .*good\.test\.mjs: two \(no reason\)$/.test(line)));
    for (const count of ["tests 3", "pass 1", "fail 1", "skipped 1"]) assert.ok(lines.includes(`ℹ ${count}`));
    assert.ok(lines.some((line) => line.includes("1 == 2")));
  });

  it("ends with the summary where nothing fails", () => {
    const { status, lines } = linesFor("good.test.mjs");
    assert.equal(status, 0);
    const summary = lines.slice(lines.indexOf("ℹ tests 2")).filter((line) => line !== "");
    assert.equal(summary.length, 8, lines.join("\n"));
    assert.match(summary.at(-1) ?? "", /^ℹ duration_ms /);
  });
});
