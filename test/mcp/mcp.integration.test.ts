import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { decision } from "../cli/decision.ts";
import { writeTinyPackage } from "../models/tiny-package.ts";
import { type Body, KEY, Service } from "../service/service.ts";
import { packageRoot } from "../support/package-root.ts";

const QUESTIONS = {
  intent: {
    type: "choice",
    instructions: "What is wanted?",
    criteria: { 9: "Wants money back", 10: "Wants to leave", other: null },
  },
  angry: { type: "noul", instructions: "The customer is angry." },
  urgency: { type: "score", instructions: "How urgent is it?", criteria: ["can wait", "today"] },
};
const DECIDE = { state: { b: 1, text: "I was charged twice!" }, questions: QUESTIONS };
const RANK = { state: "A paper jam.", question: "Which helps?", candidates: ["Open tray 2.", "Buy ink."] };

/** A small model: that it is the same one is what counts here. */
const model = mkdtempSync(path.join(tmpdir(), "mcp-"));
const bin = path.join(packageRoot, "bin/decision.js");
const stdio = (args: readonly string[], env: Record<string, string> = {}) =>
  new StdioClientTransport({ command: process.execPath, args: [bin, "mcp", ...args], env });

async function withClient(transport: Transport, run: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  try {
    await run(client);
  } finally {
    await client.close();
  }
}

async function callTool(client: Client, name: string, given: Record<string, unknown>): Promise<Body> {
  await client.listTools(); // so that the client checks the result by the tool's output schema
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: given });
  assert.ok(!isError, JSON.stringify(content));
  // checked by the client
  return structuredContent as Body;
}

async function errorOf(client: Client, name: string, given: Record<string, unknown>): Promise<string> {
  const { isError, content } = await client.callTool({ name, arguments: given });
  assert.equal(isError, true);
  const [first] = content;
  assert.equal(first?.type, "text");
  return first.text;
}

describe("MCP with the model", () => {
  const authorization = `Bearer ${KEY}`;
  const headers = { "content-type": "application/json", authorization };
  let service: Service;
  before(async () => {
    await writeTinyPackage(model);
    service = await Service.start(["--model-path", model], { DECISION_API_KEY: KEY });
  });
  after(async () => {
    await service.stop();
    rmSync(model, { recursive: true });
  });
  const url = () => `http://127.0.0.1:${service.port}`;
  const overHttp = () =>
    new StreamableHTTPClientTransport(new URL(`${url()}/mcp`), {
      requestInit: { headers: { authorization } },
    });

  async function checkNumbers(client: Client): Promise<void> {
    for (const [name, target, given] of [
      ["decide", "/v1/systemone", DECIDE],
      ["rank", "/v1/rank", RANK],
    ] as const) {
      const { latency_ms: _, ...told } = await callTool(client, name, given);
      const { latency_ms: __, ...plain } = (await service.post(target, given, headers)).body;
      assert.deepEqual(told, plain);
    }
    const models = await callTool(client, "models", {});
    assert.deepEqual(models, (await service.call("GET", "/v1/models")).body);
  }

  it("gives the numbers of the contract over HTTP", async () => {
    await withClient(overHttp(), checkNumbers);
  });

  it("gives them over stdio with --url and the key from the environment", async () => {
    await withClient(stdio(["--url", url()], { DECISION_API_KEY: KEY }), async (client) => {
      await checkNumbers(client);
      assert.match(await errorOf(client, "rank", { ...RANK, candidates: ["a"] }), /^The arguments of rank/);
    });
  });

  it("with a model of its own answers all that was piped in, writes nothing else to standard output, and ends", async () => {
    const open = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const lines = [
      { id: 1, method: "initialize", params: open },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params: { name: "decide", arguments: DECIDE } },
      { id: 3, method: "tools/call", params: { name: "rank", arguments: RANK } },
      { id: 4, method: "tools/call", params: { name: "models", arguments: {} } },
    ].map((message) => JSON.stringify({ jsonrpc: "2.0", ...message }));
    const { status, stdout, stderr } = decision(["mcp", "--model-path", model, "--log-level", "debug"], {
      input: `${lines.join("\n")}\n{broken`,
    });
    assert.equal(status, 0);
    assert.match(stderr, /valid JSON/i);
    assert.doesNotMatch(stderr, /"stack"|\bat file:/);
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(answers.map(({ id }) => id).sort(), [1, 2, 3, 4, null]); // null: the broken line
    const resultOf = (wanted: number) => answers.find(({ id }) => id === wanted).result;
    for (const [id, target, given] of [
      [2, "/v1/systemone", DECIDE],
      [3, "/v1/rank", RANK],
    ] as const) {
      const { latency_ms: _, ...told } = resultOf(id).structuredContent;
      const { latency_ms: __, ...plain } = (await service.post(target, given, headers)).body;
      assert.deepEqual(told, plain);
    }
    assert.deepEqual(resultOf(4).structuredContent, (await service.call("GET", "/v1/models")).body);
    const text: string = resultOf(2).content[0].text;
    assert.ok(text.indexOf('"9":') > 0 && text.startsWith('{"answers":{"intent":'), text);
  });
});
