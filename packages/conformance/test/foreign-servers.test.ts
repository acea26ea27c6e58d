import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { runConformance } from "../src/index.ts";
import { FaultyService } from "./faulty-service.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Checks a server against the contract. @returns the report and the number of received requests */
async function against(answer: Answer, path = "") {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    answer(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  try {
    const report = await runConformance({ baseUrl: `http://127.0.0.1:${port}${path}` });
    return { report, requests };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const page =
  (status: number): Answer =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": "text/html" }).end("<h1>Some page</h1>");

describe("a server of another kind is told early:", () => {
  const cases: readonly { name: string; answer: Answer; path?: string; says: RegExp }[] = [
    {
      name: "a file server",
      answer: (request, response) => page(request.method === "GET" ? 404 : 501)(request, response),
      says: /GET \/v1\/models gave 404 text\/html, POST \/v1\/rank 501 .*try another port/,
    },
    { name: "a page for everything", answer: page(200), says: /gave 200 text\/html/ },
    { name: "a proxy that wants a key", answer: page(403), says: /DECISION_API_KEY/ },
    { name: "a proxy without a server behind it", answer: page(503), says: /gave 503 text\/html/ },
    {
      name: "another API",
      answer: (_request, response) =>
        void response.writeHead(404, { "content-type": "application/json" }).end('{"detail":"Not Found"}'),
      path: "/v1",
      says: /leave \/v1 off the address/,
    },
  ];
  for (const { name, answer, path, says } of cases) {
    it(name, async () => {
      const { report, requests } = await against(answer, path);
      assert.equal(report.exitCode, 1);
      assert.deepEqual([report.counts.passed, report.counts.failed], [0, 0]);
      assert.match(report.obstacle ?? "", says);
      assert.ok(requests <= 10, `${requests} requests`);
      assert.equal(report.requests, requests);
    });
  }

  it("but no server that breaks the contract in a part of this", async () => {
    const service = await FaultyService.start();
    service.plant({
      send: (answer, { url }) => {
        if (url === "/v1/models") answer.status = 404;
      },
    });
    try {
      const report = await runConformance({ baseUrl: service.url, only: ["models.list", "rank.rows"] });
      assert.deepEqual([report.counts.passed, report.counts.failed], [1, 1]);
    } finally {
      await service.stop();
    }
  });
});
