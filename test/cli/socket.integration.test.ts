import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { startFastService } from "../support/fast-service.ts";
import { inProcess } from "./in-process.ts";

const CHOICES = ["--choice", "a=First", "--choice", "b=Second"];
const ROWS = ["--questions", "questions.json", "--input", "rows.jsonl"];

let folder: string;
let service: Awaited<ReturnType<typeof startFastService>>;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "a socket "));
  service = await startFastService({ socket: path.join(folder, "d.sock") });
  const question = { type: "choice", instructions: "Which?", criteria: { a: "First", b: "Second" } };
  await writeFile(path.join(folder, "questions.json"), JSON.stringify({ which: question }));
  const rows = [1, 2].map((id) => JSON.stringify({ id, state: `Text ${id}.`, labels: { which: "a" } }));
  await writeFile(path.join(folder, "rows.jsonl"), rows.join("\n"));
});
after(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

describe("a service on a Unix socket", () => {
  for (const args of [
    ["decide", "--state", "x", "--question", "Which?", ...CHOICES],
    ["rank", "--state", "x", "--candidate", "a", "--candidate", "b"],
    ["batch", ...ROWS, "--output", "-"],
    ["evaluate", ...ROWS],
    ["bench", "--part", "http", "--count", "4", "--seconds", "1"],
  ])
    it(`is asked by ${args[0]}`, async () => {
      const { status, stdout, stderr } = await inProcess([...args, "--url", service.url], { cwd: folder });
      assert.equal(status, 0, stderr);
      assert.notEqual(stdout, "");
    });

  it("is checked for conformance, over kept connections too", async () => {
    const clauses = ["rank.rows", "wire.pipelining", "limits.body-announced"];
    const only = clauses.flatMap((clause) => ["--only", clause]);
    const { status, stdout } = await inProcess(["conformance", service.url, ...only]);
    assert.equal(status, 0, stdout);
    assert.match(stdout, /^http\+unix:\/\//);
    assert.match(stdout, /3 kept, 0 broken/);
  });
});
