import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, describe, it } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpEndpoint } from "../../src/mcp/http.ts";
import { listTools } from "../../src/mcp/tools.ts";
import { packageRoot } from "../support/package-root.ts";
import { fakeServer, json, KEY, withServer } from "./doubles.ts";

const PAGE = "https://chat.example";
const generated = (name: string) =>
  JSON.parse(readFileSync(path.join(packageRoot, `generated/${name}.json`), "utf8"));
const openMcp = async () =>
  createMcpEndpoint({
    tools: listTools(generated("openapi")),
    version: "1.2.3",
    maxBodyBytes: 10_000,
    onError: () => {},
    ask: () => async () => json(200, { ranked: [] }),
  });

const app = await fakeServer({ corsOrigins: [PAGE, "http://localhost:3000"], openMcp });
const forAll = await fakeServer({ corsOrigins: ["*"] });
after(() => Promise.all([app.close(), forAll.close()]));

const preflight = (origin: string, url: string, headers: string, of = app) =>
  of.inject({
    method: "OPTIONS",
    url,
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": headers,
    },
  });

describe("for a page of an allowed origin", () => {
  for (const [client, url, headers] of [
    ["a program without a library", "/v1/rank", "authorization,content-type"],
    [
      "an SDK of TypeSafe",
      "/typesafe/v1/systemone",
      "authorization,content-type,x-typesafe-runtime,x-typesafe-sdk",
    ],
    ["an SDK made by Fern", "/v2/rerank", "x-client-name,x-fern-language,x-fern-runtime"],
    [
      "an MCP client",
      "/mcp",
      "content-type,mcp-method,mcp-name,mcp-protocol-version,mcp-session-id,last-event-id",
    ],
    ["a client with headers of its own", "/nowhere", "x-whatever-comes"],
  ] as const)
    it(`a preflight allows the headers of ${client}`, async () => {
      const answer = await preflight(PAGE, url, headers);
      assert.equal(answer.statusCode, 204);
      assert.equal(answer.headers["access-control-allow-origin"], PAGE);
      assert.equal(answer.headers["access-control-allow-headers"], headers);
      assert.match(String(answer.headers["access-control-allow-methods"]), /POST/);
      assert.match(String(answer.headers.vary), /origin/i);
    });

  it("every header that the contracts declare can be read", async () => {
    const answer = await app.inject({ url: "/health", headers: { origin: PAGE } });
    const exposed = String(answer.headers["access-control-expose-headers"]).split(", ");
    const declared = ["openapi", "typesafe", "rerank", "explain"].flatMap((name) =>
      headersIn(generated(name)),
    );
    for (const name of [...declared, "mcp-session-id", "mcp-protocol-version"])
      assert.ok(exposed.includes(name), name);
  });

  it("errors can be read as well", async () => {
    for (const [method, url] of [
      ["POST", "/v1/systemone"],
      ["GET", "/nowhere"],
      ["DELETE", "/health"],
    ] as const) {
      const answer = await app.inject({ method, url, headers: { origin: PAGE } });
      assert.ok(answer.statusCode >= 400);
      assert.equal(answer.headers["access-control-allow-origin"], PAGE, url);
    }
  });

  for (const mode of ["legacy", { pin: "2026-07-28" }] as const)
    it(`the MCP SDK's client works, ${mode === "legacy" ? "with initialize" : "without"}`, async () => {
      await withServer(await fakeServer({ corsOrigins: [PAGE], openMcp }), async (port) => {
        const client = new Client({ name: "page", version: "1" }, { versionNegotiation: { mode } });
        const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
          requestInit: { headers: { authorization: `Bearer ${KEY}` } },
          fetch: asInBrowser,
        });
        await client.connect(transport);
        assert.equal((await client.listTools()).tools.length, 3);
        await client.close();
      });
    });
});

describe("for any other page", () => {
  for (const origin of ["https://evil.example", "https://chat.example.evil.example", "null"])
    it(`there are no headers of CORS: ${origin}`, async () => {
      const asked = await preflight(origin, "/v1/systemone", "content-type");
      assert.equal(asked.statusCode, 405);
      const sent = await app.inject({ url: "/health", headers: { origin } });
      for (const answer of [asked, sent])
        assert.deepEqual(
          Object.keys(answer.headers).filter((name) => name.startsWith("access-control-")),
          [],
        );
    });
});

it("with * every page is allowed, and requests of programs stay as they are", async () => {
  const answer = await preflight("https://any.example", "/v1/systemone", "x-a", forAll);
  assert.deepEqual([answer.statusCode, answer.headers["access-control-allow-origin"]], [204, "*"]);
  const program = await forAll.inject({ method: "OPTIONS", url: "/v1/systemone" });
  assert.deepEqual([program.statusCode, program.headers["x-decision-error"]], [405, "METHOD_NOT_ALLOWED"]);
  assert.equal(program.headers["access-control-allow-origin"], undefined);
});

/** `fetch` of a page of another origin: asks before each request that needs it, and hides headers that are not exposed. */
async function asInBrowser(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const names = [...headers.keys()].filter((name) => !["accept", "accept-language"].includes(name));
  const method = init.method ?? "GET";
  const asked = await fetch(url, {
    method: "OPTIONS",
    headers: {
      origin: PAGE,
      "access-control-request-method": method,
      "access-control-request-headers": names.join(","),
    },
  });
  const allowed = (asked.headers.get("access-control-allow-headers") ?? "").toLowerCase().split(/,\s*/);
  const isAllowed = asked.headers.get("access-control-allow-origin") === PAGE && asked.ok;
  if (!isAllowed || !names.every((name) => allowed.includes(name))) throw new TypeError("blocked by CORS");
  headers.set("origin", PAGE);
  return await fetch(url, { ...init, headers });
}

function headersIn(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  const own = "description" in node && "headers" in node ? Object.keys(node.headers ?? {}) : [];
  return [...own, ...Object.values(node).flatMap(headersIn)];
}
