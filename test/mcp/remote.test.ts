import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import type { JsonObject, JsonValue } from "../../src/json/value.ts";
import { callTool } from "../../src/mcp/call-tool.ts";
import { askRemote } from "../../src/mcp/remote.ts";
import { serviceAddress } from "../../src/service-address.ts";
import { startFastService } from "../support/fast-service.ts";

const { signal } = new AbortController();
const body: JsonObject = new Map<string, JsonValue>([["state", "s"]]);

/** A service at a path that answers so; what it was asked is kept. */
async function withService(
  answer: { status: number; body: string; headers?: Record<string, string> },
  run: (url: URL, asked: string[], stop: () => Promise<void>, bodies: string[]) => Promise<void>,
): Promise<void> {
  const asked: string[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    bodies.push((await request.toArray()).join(""));
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // a TCP listener's address is an AddressInfo
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    if (!server.listening) return;
    server.close();
    await once(server, "close");
  };
  try {
    await run(new URL(`http://127.0.0.1:${port}/base`), asked, stop, bodies);
  } finally {
    await stop();
  }
}

const askAt = (url: URL, key?: string) => askRemote(serviceAddress(url.href), key);

async function textOf(url: URL, key?: string, given = body): Promise<string> {
  const { content } = await callTool("rank", given, signal, askAt(url, key));
  const [first] = content;
  assert.ok(first?.type === "text");
  return first.text;
}

describe("a service elsewhere", () => {
  it("is asked at its base URL with its key", async () => {
    await withService({ status: 200, body: '{"ranked":[]}' }, async (url, asked) => {
      assert.equal(await textOf(url, "k"), '{"ranked":[]}');
      await callTool("models", undefined, signal, askAt(url));
      assert.deepEqual(asked, ["POST /base/v1/rank Bearer k", "GET /base/v1/models undefined"]);
    });
  });

  it("is sent the arguments as the body", async () => {
    await withService({ status: 200, body: '{"ranked":[]}' }, async (url, _asked, _stop, bodies) => {
      await textOf(url);
      assert.deepEqual(bodies, ['{"state":"s"}']);
    });
  });

  it("has its refusals told in words", async () => {
    const busy = { status: 503, body: '{"detail":"The queue is full."}', headers: { "retry-after": "7" } };
    await withService(busy, async (url) =>
      assert.equal(await textOf(url), "The queue is full. Try again after 7 s."),
    );
    await withService({ status: 502, body: "<html>" }, async (url) =>
      assert.equal(await textOf(url), "The service answered with status 502."),
    );
    await withService({ status: 401, body: "{}" }, async (url) =>
      assert.match(await textOf(url), /requires a key: set DECISION_API_KEY/),
    );
  });

  it("that does not run is named with the reason", async () => {
    await withService({ status: 200, body: "{}" }, async (url, _asked, stop) => {
      await stop();
      assert.equal(
        await textOf(url),
        `The service at ${url.href} cannot be reached: connect ECONNREFUSED ${url.host}.`,
      );
    });
  });

  it("that redirects sends nothing elsewhere", async () => {
    await withService({ status: 200, body: '{"ranked":[]}' }, async (elsewhere, askedElsewhere) => {
      const redirect = { status: 307, body: "", headers: { location: `${elsewhere}/v1/rank` } };
      await withService(redirect, async (url, asked) => {
        assert.equal(await textOf(url, "k"), `The service at ${url} cannot be reached: unexpected redirect.`);
        assert.deepEqual(asked, ["POST /base/v1/rank Bearer k"]);
      });
      assert.deepEqual(askedElsewhere, []);
    });
  });

  it("is asked over its Unix socket", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "mcp-socket-"));
    const service = await startFastService({ socket: path.join(folder, "d.sock") });
    try {
      const asked = new Map<string, JsonValue>([...body, ["candidates", ["a", "b"]]]);
      assert.match(await textOf(new URL(service.url), undefined, asked), /"ranked":/);
    } finally {
      await service.close();
      await rm(folder, { recursive: true });
    }
  });
});
