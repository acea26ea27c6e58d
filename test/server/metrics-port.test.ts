import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { createMetricsServer } from "../../src/server/routes/metrics.ts";
import { fakeServer } from "./doubles.ts";

let isBroken = false;
const metrics = {
  write: async () => {
    if (isBroken) throw new Error("no metrics");
    return { contentType: "text/plain; version=0.0.4", text: "up 1\n" };
  },
};
const app = await fakeServer();
after(() => app.close());
const server = createMetricsServer(metrics, (request, response) => app.routing(request, response));
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo; // a TCP listener's address is an AddressInfo
after(() => server.close());

const CASES = [
  { name: "the metrics", path: "/metrics", status: 200 },
  { name: "the metrics with a query", path: "/metrics?a=b", status: 200 },
  { name: "the path with a slash more", path: "//metrics/", status: 404, code: "NOT_FOUND" },
  { name: "only their head", path: "/metrics", method: "HEAD", status: 200 },
  { name: "the health", path: "/health", status: 200, operation: "getHealth" },
  { name: "the health with a query", path: "/health?a=b", status: 200, operation: "getHealth" },
  { name: "an operation", path: "/v1/models", status: 404, code: "NOT_FOUND" },
  { name: "a path below", path: "/metrics/x", status: 404, code: "NOT_FOUND" },
  { name: "another method", path: "/metrics", method: "POST", status: 405, code: "METHOD_NOT_ALLOWED" },
  { name: "a fault", path: "/metrics", isBroken: true, status: 500, code: "INTERNAL" },
] as const;

for (const { name, path, status, ...rest } of CASES) {
  test(`the metrics port answers ${name} with ${status} and the headers of every response`, async () => {
    isBroken = "isBroken" in rest;
    const method = "method" in rest ? rest.method : "GET";
    const headers = { "x-request-id": "r-1" };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers });
    const code = "code" in rest ? rest.code : null;
    assert.deepEqual(
      {
        status: answer.status,
        id: answer.headers.get("x-request-id"),
        sniffing: answer.headers.get("x-content-type-options"),
        caching: answer.headers.get("cache-control"),
        code: answer.headers.get("x-decision-error"),
        allow: answer.headers.get("allow"),
      },
      {
        status,
        id: "r-1",
        sniffing: "nosniff",
        caching: "no-store",
        code,
        allow: status === 405 ? "GET, HEAD" : null,
      },
    );
    const text = await answer.text();
    const told = "operation" in rest ? JSON.stringify({ operation: rest.operation, bytes: 0 }) : "up 1\n";
    if (status === 200) assert.equal(text, method === "HEAD" ? "" : told);
    else assert.equal(typeof JSON.parse(text).detail, "string");
  });
}
