import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { createDecider } from "../../src/library/index.ts";
import { Service } from "../service/service.ts";
import { packageRoot } from "../support/package-root.ts";
import { decision } from "./decision.ts";
import { inProcess } from "./in-process.ts";
import { questions, rows, writeRows } from "./tune-rows.ts";

const folder = mkdtempSync(path.join(tmpdir(), "tune-deep-"));
const file = (name: string) => path.join(folder, name);
before(() => writeFileSync(file("questions.json"), JSON.stringify({ upset: questions.upset })));
after(() => rmSync(folder, { recursive: true }));

describe("decision tune", () => {
  it("runs the commands of its page, in their order", async () => {
    const page = readFileSync(path.join(packageRoot, "docs/tuning.md"), "utf8");
    const commands = [...page.matchAll(/^npx decision (.*)$/gm)].map(([, line = ""]) => line.split(" "));
    assert.deepEqual(
      commands.map(([command]) => command),
      ["tune", "serve", "evaluate", "evaluate", "evaluate"],
    );
    for (const name of ["labelled.jsonl", "others.jsonl"]) writeRows(file(name));
    const outputs: string[] = [];
    for (const [command, ...args] of commands)
      if (command === "serve") {
        const service = await Service.start(args.map((arg) => (arg.endsWith(".json") ? file(arg) : arg)));
        const { body } = await service.call("GET", "/health");
        await service.stop();
        assert.match(JSON.stringify(body.tuning), /"name":"upset"/);
      } else {
        const { status, stdout, stderr } = await inProcess([command ?? "", ...args], { cwd: folder });
        assert.equal(status, 0, `${command} ${args.join(" ")}\n${stdout}${stderr}`);
        outputs.push(stdout);
      }
    const [fitted, kept, checked, compared] = outputs;
    assert.match(fitted ?? "", /Written to tuning\.json/);
    assert.ok(kept && JSON.parse(readFileSync(file("thresholds.json"), "utf8")).questions.length === 1);
    assert.match(checked ?? "", /check of thresholds\.json .*: passed/);
    assert.match(compared ?? "", /the second is better/);
  });

  it("writes a file that is served over MCP", async () => {
    const [state = ""] = rows.map((row) => row.state);
    await using decider = await createDecider({ tuning: [file("tuning.json")] });
    const tuned = JSON.parse(await decider.ask("systemone", JSON.stringify({ state, questions }))).answers;
    const open = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const messages = [
      { id: 1, method: "initialize", params: open },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params: { name: "decide", arguments: { state, questions } } },
    ].map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const { stdout, stderr } = decision(["mcp", "--tuning", file("tuning.json")], {
      input: messages.join(""),
    });
    const [, reply = assert.fail(stderr)] = stdout.trimEnd().split("\n");
    assert.deepEqual(JSON.parse(reply).result.structuredContent.answers, tuned);
  });
});
