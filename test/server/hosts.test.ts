import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { createMetricsServer } from "../../src/server/routes/metrics.ts";
import type { ServerOptions } from "../../src/server/server.ts";
import { fakeServer, KEY, memoryLog, OPEN, withServer } from "./doubles.ts";

const METRICS = { write: async () => ({ contentType: "text/plain", text: "up 1\n" }) };
const KEYLESS: Partial<ServerOptions> = { apiKey: undefined, metrics: METRICS };

/** `fetch` lets nobody choose the Host header. */
async function ask(where: { port: number } | { socketPath: string }, target: string, host: string) {
  const [method = "", url = ""] = target.split(" ");
  const headers = { host, ...(method === "POST" && { "content-type": "application/json" }) };
  const outgoing = request({ ...where, host: "127.0.0.1", method, path: url, headers }).end(
    method === "POST" ? "{}" : undefined,
  );
  const [incoming] = await once(outgoing, "response");
  const text = (await incoming.toArray()).join("");
  return { status: Number(incoming.statusCode), headers: incoming.headers, text };
}

const TARGETS = [
  "GET /",
  "GET /health",
  "GET /openapi.json",
  "GET /docs",
  "GET /redoc",
  "GET /metrics",
  "GET /nowhere",
  "GET /%ff",
  "DELETE /health",
  "OPTIONS /v1/systemone",
  "POST /v1/systemone",
];

const FOREIGN = [
  "evil.example",
  "evil.example:8700",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "evil.example@localhost",
  "128.0.0.1",
  "0.0.0.0",
  "[::2]",
  "[::1",
];

const OWN = [
  "localhost",
  "LOCALHOST:1",
  "localhost.",
  "127.0.0.1",
  "127.8.9.10:80",
  "[::1]",
  "[::1]:8700",
  "[0:0:0:0:0:0:0:1]",
];

describe("a service without a key on a loopback address", () => {
  it("refuses every path for a host name that was led to the loopback", async () => {
    await withServer(await fakeServer(KEYLESS), async (port) => {
      for (const target of TARGETS) {
        const { status, headers, text } = await ask({ port }, target, "evil.example:8700");
        assert.deepEqual([status, headers["x-decision-error"]], [403, "HOST_NOT_ALLOWED"], target);
        assert.match(JSON.parse(text).detail, /--allowed-host/);
        assert.ok(headers["x-request-id"]);
      }
    });
  });

  it("answers the names of the loopback, and no other", async () => {
    await withServer(await fakeServer(KEYLESS), async (port) => {
      for (const host of OWN) assert.equal((await ask({ port }, "GET /health", host)).status, 200, host);
      for (const host of FOREIGN) assert.equal((await ask({ port }, "GET /health", host)).status, 403, host);
    });
  });

  it("answers the names that the operator allows", async () => {
    const app = await fakeServer({ ...KEYLESS, allowedHosts: ["decisions.example", "::2"] });
    await withServer(app, async (port) => {
      for (const host of ["decisions.example:8700", "Decisions.Example", "[::2]:1"])
        assert.equal((await ask({ port }, "POST /v1/systemone", host)).status, 200, host);
      assert.equal((await ask({ port }, "GET /health", "other.example")).status, 403);
    });
  });

  it("refuses such a host before a full queue does", async () => {
    const app = await fakeServer({ ...KEYLESS, admission: { ...OPEN, isFull: () => true } });
    await withServer(app, async (port) => {
      assert.equal((await ask({ port }, "POST /v1/systemone", "evil.example")).status, 403);
      assert.equal((await ask({ port }, "POST /v1/systemone", "localhost")).status, 503);
    });
  });

  it("takes requests of HTTP/1.0 without a Host header, which no browser sends", async () => {
    await withServer(await fakeServer(KEYLESS), async (port) => {
      const socket = connect({ port, host: "127.0.0.1" });
      socket.write("GET /health HTTP/1.0\r\n\r\n");
      assert.match((await socket.toArray()).join(""), /^HTTP\/1\.1 200/);
    });
  });

  it("keeps the metrics port closed to such hosts as well", async () => {
    const server = createMetricsServer(METRICS, () => {}, ["decisions.example"]);
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo; // a TCP listener's address is an AddressInfo
    const { status, headers } = await ask({ port }, "GET /metrics", "evil.example");
    assert.deepEqual([status, headers["x-decision-error"]], [403, "HOST_NOT_ALLOWED"]);
    assert.equal((await ask({ port }, "GET /metrics", "decisions.example")).status, 200);
    server.close();
  });
});

describe("any host name is taken", () => {
  it("where a key is required", async () => {
    await withServer(await fakeServer({ ...KEYLESS, apiKey: KEY }), async (port) => {
      assert.equal((await ask({ port }, "GET /health", "proxy.example")).status, 200);
    });
  });

  it("on other addresses", async () => {
    const app = await fakeServer(KEYLESS);
    await app.listen({ host: "0.0.0.0", port: 0 });
    const { port } = app.server.address() as AddressInfo; // a TCP listener's address is an AddressInfo
    assert.equal((await ask({ port }, "GET /health", "pod.example")).status, 200);
    app.server.closeAllConnections();
    await app.close();
  });

  it("on a Unix socket, which no browser reaches", async () => {
    const app = await fakeServer({ ...KEYLESS, log: memoryLog() });
    const socketPath = path.join(mkdtempSync(path.join(tmpdir(), "hosts-")), "s.sock");
    await app.listen({ path: socketPath });
    assert.equal((await ask({ socketPath }, "GET /health", "any")).status, 200);
    app.server.closeAllConnections();
    await app.close();
  });
});
