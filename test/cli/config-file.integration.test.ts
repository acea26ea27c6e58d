import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { inProcess } from "./in-process.ts";

const folder = mkdtempSync(path.join(tmpdir(), "unnamed-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const write = (text: string) => writeFileSync(path.join(folder, "decision.yaml"), text);
const run = (args: readonly string[], env = {}) => inProcess(args, { cwd: folder, env });

describe("decision.yaml in the working folder", () => {
  it("is not read by commands without --config, unless it is named", async () => {
    write("port: wrong\n");
    writeFileSync(path.join(folder, "rows.jsonl"), '"x"\n');
    writeFileSync(path.join(folder, "q.json"), '{"q":{"type":"noul","instructions":"x"}}');
    for (const args of [
      ["decide", "--state", "x", "--question", "y", "--model", "none"],
      ["rank", "--state", "x", "--candidate", "a", "--candidate", "b", "--model", "none"],
      ["explain", "--state", "x", "--question", "y", "--model", "none"],
      ["batch", "--questions", "q.json", "--input", "rows.jsonl", "--model", "none"],
      ["evaluate", "--questions", "q.json", "--input", "rows.jsonl", "--model", "none"],
      ["tune", "--questions", "q.json", "--input", "rows.jsonl", "--output", "t.json", "--model", "none"],
      ["mcp", "--model", "none"],
    ]) {
      const unnamed = await run(args);
      assert.match(unnamed.stderr, /unknown model "none"/, args[0]);
      const named = await run(args, { DECISION_CONFIG: "decision.yaml" });
      assert.match(named.stderr, /decision\.yaml: port: expected a whole number, got a string/, args[0]);
    }
  });

  it("is read by serve and config, which say so at any log level", async () => {
    write("queue-size: 0\nlog-level: silent\n");
    for (const command of ["serve", "config"]) {
      const { status, stderr } = await run([command]);
      assert.equal(status, 2);
      const [first, second] = stderr.split("\n");
      assert.match(first ?? "", /^decision \w+: options from .*\/decision\.yaml$/);
      assert.match(second ?? "", /decision\.yaml: queue-size: expected a whole number from 1/);
    }
  });

  it("does not open the service unless it is named", async () => {
    write('host: 0.0.0.0\nallow-unauthenticated: true\ncors-origin: ["*"]\nport: 70000\n');
    const unnamed = await run(["serve"]);
    assert.equal(unnamed.status, 2);
    assert.match(
      unnamed.stderr,
      /sets host, allow-unauthenticated, cors-origin, which .* only if it is named/,
    );
    const named = await run(["serve", "--config", "decision.yaml"]);
    assert.match(named.stderr, /^decision serve: decision\.yaml: port: expected a whole number/);
  });
});
