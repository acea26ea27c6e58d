import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { describe, it } from "node:test";
import { runConformance, WrongUsage } from "../src/index.ts";
import { FaultyService } from "./faulty-service.ts";

/** Runs the checks against a server that is not this service. */
async function against(
  onConnection: (socket: Socket) => void,
  scheme = "http",
  only: readonly string[] = [],
) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  return await held(server, scheme, only, () => {
    for (const socket of sockets) socket.destroy();
  });
}

async function held(server: Server, scheme: string, only: readonly string[], cleanUp: () => void) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  try {
    return await runConformance({
      baseUrl: `${scheme}://127.0.0.1:${port}`,
      timeoutSeconds: 0.4,
      maxSeconds: 20,
      only,
    });
  } finally {
    cleanUp();
    server.close();
  }
}

const ANSWERS: readonly {
  readonly name: string;
  readonly onConnection: (socket: Socket) => void;
  says: RegExp;
}[] = [
  { name: "accepts and never answers", onConnection: () => {}, says: /no complete answer within 0.4 s/ },
  { name: "closes at once", onConnection: (socket) => socket.destroy(), says: /closed before an answer/ },
  {
    name: "answers garbage",
    onConnection: (socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"),
    says: /not HTTP/,
  },
  {
    name: "closes in the middle of a body",
    onConnection: (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"),
    says: /closed after 1 bytes/,
  },
  {
    name: "never ends a body",
    onConnection: (socket) =>
      void socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n"),
    says: /no complete answer/,
  },
  {
    name: "is not ready, for ever",
    onConnection: (socket) => {
      socket.on("data", () => socket.write("HTTP/1.1 503 No\r\ncontent-length: 2\r\n\r\n{}"));
    },
    says: /not ready/,
  },
];

describe("a server that gives no answers is a failure and never a pass:", () => {
  for (const { name, onConnection, says } of ANSWERS) {
    it(`one that ${name}`, async () => {
      const report = await against(onConnection);
      assert.equal(report.exitCode, 1);
      assert.equal(report.counts.passed, 0);
      assert.equal(report.counts.failed, report.results.length);
      assert.match(report.obstacle ?? "", says);
    });
  }

  it("one at a port where nothing listens", async () => {
    const report = await runConformance({ baseUrl: "http://127.0.0.1:1" });
    assert.equal(report.exitCode, 1);
    assert.match(report.obstacle ?? "", /refused/);
  });

  it("one without TLS at an https URL", async () => {
    const report = await against(
      (socket) => socket.end("HTTP/1.1 400 No\r\ncontent-length: 0\r\n\r\n"),
      "https",
    );
    assert.equal(report.exitCode, 1);
    assert.match(report.obstacle ?? "", /TLS/);
  });
});

describe("a server that answers something else", () => {
  it("fails by redirects, which are not followed", async () => {
    const server = createHttpServer((_request, response) =>
      response.writeHead(302, { location: "/login" }).end(),
    );
    const report = await held(server, "http", ["health", "routes.operations", "models"], () =>
      server.closeAllConnections(),
    );
    assert.equal(report.exitCode, 1);
    assert.equal(report.counts.passed, 0);
    assert.match(report.obstacle ?? "", /302/);
  });

  it("fails every clause about answers when it answers {} to everything", async () => {
    const server = createHttpServer((_request, response) => response.writeHead(200).end("{}"));
    const only = ["systemone", "rank.rows", "health.named-counters", "models.list", "json.invalid"];
    const report = await held(server, "http", only, () => server.closeAllConnections());
    assert.equal(report.exitCode, 1);
    assert.deepEqual(
      report.results.filter(({ outcome }) => outcome === "passed").map(({ id }) => id),
      [],
    );
  });

  it("fails when inference hangs and health does not", async () => {
    const server = createHttpServer((request, response) => {
      if (request.method === "GET") response.end("{}");
    });
    const report = await held(server, "http", ["arithmetic", "scores", "texts"], () =>
      server.closeAllConnections(),
    );
    assert.equal(report.counts.failed, report.results.length);
    // said of each without asking again
    assert.ok(report.results.every(({ came }) => came.startsWith("neither inference operation answers")));
  });
});

describe("a run that is cut short", () => {
  it("is no pass when its requests are used up", async () => {
    const service = await FaultyService.start();
    try {
      const report = await runConformance({ baseUrl: service.url, skip: ["overload"], maxRequests: 40 });
      assert.equal(report.counts.failed, 0);
      assert.ok(report.counts.skipped > 0);
      assert.match(report.obstacle ?? "", /limit of 40 requests/);
      assert.equal(report.exitCode, 1);
    } finally {
      await service.stop();
    }
  });
});

describe("wrong usage", () => {
  for (const { name, options } of [
    { name: "no URL", options: { baseUrl: "localhost:8700" } },
    { name: "another scheme", options: { baseUrl: "ftp://localhost" } },
    { name: "a query", options: { baseUrl: "http://localhost/?x" } },
    { name: "credentials in the URL", options: { baseUrl: "http://a:b@localhost" } },
    { name: "an unknown clause", options: { baseUrl: "http://localhost", only: ["nope"] } },
    { name: "an unknown clause to skip", options: { baseUrl: "http://localhost", skip: ["nope.*"] } },
    { name: "nothing left", options: { baseUrl: "http://localhost", only: ["overload"], isGentle: true } },
    { name: "a key with a space", options: { baseUrl: "http://localhost", apiKey: "a b" } },
    { name: "a timeout of 0", options: { baseUrl: "http://localhost", timeoutSeconds: 0 } },
  ]) {
    it(`${name} is refused before anything is sent`, async () => {
      await assert.rejects(runConformance(options), WrongUsage);
    });
  }
});
