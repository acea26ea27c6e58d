import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import path from "node:path";
import { describe, it } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { JsonValue } from "../../src/json/value.ts";
import { writeJson } from "../../src/json/write.ts";
import { callTool } from "../../src/mcp/call-tool.ts";
import { createMcpEndpoint } from "../../src/mcp/http.ts";
import { listTools } from "../../src/mcp/tools.ts";
import type { ServerOptions } from "../../src/server/server.ts";
import { fakeContract } from "../contract/fake-contract.ts";
import { fakeServer, json, KEY, MAX_BODY_BYTES, withServer } from "../server/doubles.ts";
import { packageRoot } from "../support/package-root.ts";

const document = JSON.parse(readFileSync(path.join(packageRoot, "generated/openapi.typed.json"), "utf8"));
const tools = listTools(document);
const ranking =
  document.paths["/v1/rank"].post.responses["200"].content["application/json"].examples.labelled.value;

/** Answers like the contract's examples, and as the state asks for; tells what came. */
function endpoint(asked: string[]) {
  return createMcpEndpoint({
    tools,
    version: "1.2.3",
    maxBodyBytes: MAX_BODY_BYTES,
    onError: () => {},
    ask: () => async (operation) => {
      const text = writeJson(operation.body);
      asked.push(`${operation.operationId} ${text}`);
      if (text.includes("full"))
        return { ...json(503, { detail: "The inference queue is full." }), headers: { "retry-after": "1" } };
      if (text.includes("wrong"))
        return json(422, {
          detail: [{ loc: ["body", "questions", "q"], msg: "Expected more.", type: "missing" }],
        });
      return json(200, ranking);
    },
  });
}

async function withMcp(
  run: (port: number, asked: string[]) => Promise<void>,
  options: Partial<ServerOptions> = {},
): Promise<void> {
  const asked: string[] = [];
  const app = await fakeServer({ openMcp: async () => endpoint(asked), ...options });
  await withServer(app, (port) => run(port, asked));
}

const HEADERS = { "content-type": "application/json", authorization: `Bearer ${KEY}` };
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const callOf = (name: string, given?: unknown, id = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: given },
});

async function post(port: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: { ...HEADERS, ...headers },
    body: text,
  });
  const said = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: said === "" ? undefined : JSON.parse(said),
  };
}

describe("MCP over HTTP", () => {
  for (const mode of ["legacy", { pin: "2026-07-28" }] as const)
    it(`serves the SDK's client, ${typeof mode === "string" ? "with initialize" : "without"}`, async () => {
      await withMcp(async (port) => {
        const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
        const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
          requestInit: { headers: { authorization: `Bearer ${KEY}` } },
        });
        await client.connect(transport);
        assert.equal(client.getServerVersion()?.name, "typed-decisions");
        const listed = await client.listTools();
        assert.deepEqual(
          listed.tools.map(({ name }) => name),
          ["decide", "rank", "models"],
        );
        const result = await client.callTool({
          name: "rank",
          arguments: { state: "s", candidates: ["a", "b"] },
        });
        assert.deepEqual(result.structuredContent, ranking);
        assert.deepEqual(result.content, [{ type: "text", text: JSON.stringify(ranking) }]);
        const refused = await client.callTool({ name: "rank", arguments: { state: "wrong" } });
        assert.equal(refused.isError, true);
        await assert.rejects(
          client.callTool({ name: "nothing", arguments: {} }),
          /the tools are decide, rank, models/,
        );
        await client.close();
      });
    });

  it("hands the arguments on as read, without a second reading", async () => {
    const { signal } = new AbortController();
    const state = new Map([["a", [true]]]);
    const given = new Map<string, JsonValue>([
      ["state", state],
      ["candidates", ["a", "b"]],
    ]);
    const contract = await fakeContract({
      rank: async ({ body }: { body: { state: unknown } }) => {
        assert.equal(body.state, state);
        return { status: 200, body: { ranked: [] } };
      },
    });
    const { isError } = await callTool("rank", given, signal, (asked) => {
      assert.equal(asked.body, given);
      return contract.call({ ...asked, requestId: "r" });
    });
    assert.equal(isError, undefined);
  });

  it("takes what hosts send in other forms", async () => {
    await withMcp(async (port, asked) => {
      const given = { state: "s", candidates: ["a", "b"] };
      for (const params of [
        { name: "rank", arguments: { ...given, model: null, question: "" } },
        { name: "rank", arguments: JSON.stringify(given) },
        { name: "mcp__typed-decisions__rank", arguments: given, _meta: { progressToken: 1, more: {} } },
        { name: "typed.decisions:rank", arguments: given, more: null },
      ]) {
        const { body } = await post(port, { ...callOf("rank"), params });
        assert.deepEqual(body.result?.structuredContent, ranking, JSON.stringify(body));
      }
      assert.deepEqual(asked, Array(4).fill(`rank ${JSON.stringify(given)}`));
      for (const nothing of [{}, null, [], "{}", undefined])
        assert.ok((await post(port, callOf("models", nothing))).body.result.structuredContent);
    });
  });

  it("takes no other names for its tools, and no arguments but objects", async () => {
    await withMcp(async (port, asked) => {
      for (const [name, given] of [
        ["prerank", {}],
        ["Rank", {}],
        ["rank.", {}],
        ["", {}],
        ["rank", "text"],
        ["rank", [1]],
        ["rank", 1],
      ] as const) {
        const { body } = await post(port, callOf(name, given));
        assert.equal(body.error.code, -32_602, name);
      }
      assert.deepEqual(asked, []);
    });
  });

  it("tells a wrong request and a full queue as results that an agent can read", async () => {
    await withMcp(async (port) => {
      for (const [state, text] of [
        ["full", "The inference queue is full. Try again after 1 s."],
        ["wrong", "The arguments of decide are invalid:\n- questions.q: Expected more."],
      ]) {
        const { status, body } = await post(port, callOf("decide", { state }));
        assert.equal(status, 200);
        assert.deepEqual(body.result, { content: [{ type: "text", text }], isError: true });
      }
      const { body } = await post(port, callOf("models", { a: 1 }));
      assert.match(body.result.content[0].text, /models has no arguments/);
    });
  });

  it("answers notifications with 202 and batches with as many answers", async () => {
    await withMcp(async (port) => {
      const notified = await post(port, { jsonrpc: "2.0", method: "notifications/initialized" });
      assert.deepEqual([notified.status, notified.body], [202, undefined]);
      const { status, body } = await post(port, [callOf("models", {}, 1), callOf("models", {}, 2)]);
      assert.equal(status, 200);
      assert.deepEqual(
        body.map(({ id }: { id: number }) => id),
        [1, 2],
      );
    });
  });

  for (const method of ["GET", "DELETE", "OPTIONS", "PUT"])
    it(`answers ${method} with 405: there are no sessions`, async () => {
      await withMcp(async (port) => {
        const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method, headers: HEADERS });
        assert.deepEqual([response.status, response.headers.get("allow")], [405, "POST"]);
      });
    });

  for (const [what, status, headers, body] of [
    ["no key", 401, { authorization: "" }, LIST],
    ["a wrong key", 401, { authorization: "Bearer no" }, LIST],
    ["another media type", 415, { "content-type": "text/plain" }, LIST],
    ["a body over the limit", 413, {}, `"${"x".repeat(MAX_BODY_BYTES)}"`],
    ["a body that is not JSON", 400, {}, "{nonsense"],
    ["an empty body", 400, {}, ""],
    ["the page of another site", 403, { origin: "https://evil.example" }, LIST],
    ["a page without an origin of its own", 403, { origin: "null" }, LIST],
  ] as const)
    it(`answers ${what} with ${status}, as an error of the protocol`, async () => {
      await withMcp(async (port, asked) => {
        const reply = await post(port, body, headers);
        assert.equal(reply.status, status);
        assert.equal(reply.body.jsonrpc, "2.0");
        assert.equal(reply.body.id, null);
        assert.match(reply.headers.get("x-decision-error") ?? "", /^[A-Z_]+$/);
        assert.ok(reply.body.error.message.length > 10);
        if (status === 401) assert.equal(reply.headers.get("www-authenticate"), "Bearer");
        assert.deepEqual(asked, []);
      });
    });

  it("takes pages of allowed hosts and of the origins that CORS allows, and says how to allow others", async () => {
    const options = { allowedHosts: ["mine.example"], corsOrigins: ["https://shop.example"] };
    await withMcp(async (port) => {
      for (const origin of ["http://localhost:3000", "https://mine.example", "https://shop.example"])
        assert.equal((await post(port, LIST, { origin })).status, 200, origin);
      for (const origin of ["https://mine.example.evil.example", "https://shop.example:8443", "file://"]) {
        const refused = await post(port, LIST, { origin });
        assert.deepEqual(
          [refused.status, refused.headers.get("x-decision-error")],
          [403, "ORIGIN_NOT_ALLOWED"],
        );
        assert.match(refused.body.error.message, /--cors-origin/);
      }
    }, options);
    await withMcp(
      async (port) => assert.equal((await post(port, LIST, { origin: "https://any.example" })).status, 200),
      { corsOrigins: ["*"] },
    );
  });

  it("takes the host names of the loopback only, also with a key", async () => {
    await withMcp(async (port) => {
      const [head, body] = [{ ...HEADERS, host: "evil.example" }, JSON.stringify(LIST)];
      const outgoing = request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", headers: head });
      const [refused] = await once(outgoing.end(body), "response");
      assert.deepEqual([refused.statusCode, refused.headers["x-decision-error"]], [403, "HOST_NOT_ALLOWED"]);
      refused.resume();
    });
  });

  it("is not there unless it was opened", async () => {
    await withServer(await fakeServer(), async (port) => {
      assert.equal((await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST" })).status, 404);
    });
  });
});
