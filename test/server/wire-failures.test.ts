import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { IncomingCall } from "../../src/contract/call.ts";
import { fakeContract, fakeServer, json, KEY, LIMITS, withServer } from "./doubles.ts";
import { head, untilRead, type WireAnswer, WireClient } from "./wire.ts";

const AUTHORIZED = ["Content-Type: application/json", `Authorization: Bearer ${KEY}`];
const WHOLE = head("POST /v1/systemone", ...AUTHORIZED, "Content-Length: 2");

const CODES: Readonly<Record<number, string>> = {
  400: "MALFORMED_HTTP",
  405: "METHOD_NOT_ALLOWED",
  408: "HEADERS_TIMEOUT",
  413: "BODY_TOO_LARGE",
  417: "EXPECTATION_FAILED",
  431: "HEADERS_TOO_LARGE",
  501: "MALFORMED_HTTP",
  503: "TOO_MANY_CONNECTIONS",
};

function assertRefusal(answer: WireAnswer, status: number): void {
  assert.equal(answer.status, status);
  assert.equal(answer.headers["x-decision-error"], CODES[status]);
  assert.equal(typeof answer.body.detail, "string");
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(answer.headers.connection, "close");
  assert.match(answer.headers["x-request-id"] ?? "", /^[0-9a-f-]{36}$/);
}

const BROKEN = [
  ["a line that is no request", "nonsense\r\n\r\n", 400],
  ["a line without a version", "GET /health\r\n\r\n", 400],
  ["an unknown version", "GET / HTTP/9.9\r\n\r\n", 400],
  ["a method of no known name", "FROB /health HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a header without a colon", "GET / HTTP/1.1\r\nHost a\r\n\r\n", 400],
  ["a space before the colon", head("GET /health", "X-A : b"), 400],
  ["two lengths", head("POST /v1/systemone", "Content-Length: 2", "Content-Length: 3"), 400],
  [
    "a length beside chunks",
    head("POST /v1/systemone", "Content-Length: 2", "Transfer-Encoding: chunked"),
    400,
  ],
  ["a length that is no number", head("POST /v1/systemone", "Content-Length: two"), 400],
  [
    "a broken chunk size",
    `${head("POST /v1/systemone", ...AUTHORIZED, "Transfer-Encoding: chunked")}zz\r\n`,
    400,
  ],
  [
    "a transfer coding besides chunked",
    `${head("POST /v1/systemone", ...AUTHORIZED, "Transfer-Encoding: gzip, chunked")}2\r\n{}\r\n0\r\n\r\n`,
    501,
  ],
  ["headers of 20 kB", head("GET /health", `X-A: ${"a".repeat(20_000)}`), 431],
  ["a path of 20 kB", head(`GET /${"a".repeat(20_000)}`), 431],
  ["a missing Host", "GET /health HTTP/1.1\r\n\r\n", 400],
  ["two Hosts", head("GET /health", "Host: other"), 400],
  ["CONNECT", "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n", 405],
  ["TLS", Buffer.from("16030100c8010000c40303", "hex"), 400],
] as const;
for (const [name, given, status] of BROKEN) {
  test(`${name} gets a JSON ${status} and the connection ends`, async () => {
    await withServer(await fakeServer(), async (port) => {
      const client = await WireClient.open(port);
      await client.send(given);
      assertRefusal(await client.read(), status);
      await client.ended();
      assert.equal(client.error, undefined);
      client.close();
    });
  });
}

test("a 431 reaches a client that writes 1 MiB of headers before it reads", async () => {
  await withServer(await fakeServer(), async (port) => {
    const client = await WireClient.open(port);
    client.socket.pause();
    await client.send(head("GET /health", `X-A: ${"a".repeat(1_048_576)}`));
    client.socket.resume();
    assertRefusal(await client.read(), 431);
    assert.equal(client.error, undefined);
    client.close();
  });
});

test("HTTP/1.0 with Transfer-Encoding is refused, since a proxy may see another end of it", async () => {
  await withServer(await fakeServer(), async (port) => {
    const client = await WireClient.open(port);
    await client.send(
      "GET /health HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    );
    assert.equal((await client.read()).status, 400);
    await client.ended();
    client.close();
  });
});

test("HTTP/1.0 needs no Host", async () => {
  await withServer(await fakeServer(), async (port) => {
    const client = await WireClient.open(port);
    await client.send("GET /health HTTP/1.0\r\n\r\n");
    assert.equal((await client.read()).status, 200);
    await client.ended();
    client.close();
  });
});

test("a body that its sender cuts off gets a 400 with the caller's request id", async () => {
  await withServer(await fakeServer(), async (port) => {
    const client = await WireClient.open(port);
    await client.send(
      head("POST /v1/systemone", ...AUTHORIZED, "X-Request-Id: mine", "Content-Length: 9"),
      "{}",
    );
    client.socket.end();
    const answer = await client.read();
    assert.equal(answer.status, 400);
    assert.equal(answer.headers["x-request-id"], "mine");
    client.close();
  });
});

test("garbage after a whole request is refused after that request's own answer", async () => {
  const { contract, finish } = heldContract();
  await withServer(await fakeServer({ contract }), async (port) => {
    const client = await WireClient.open(port);
    await client.send(`${WHOLE}{}garbage\r\n\r\n`);
    finish();
    assert.equal((await client.read()).body.held, true);
    assertRefusal(await client.read(), 400);
    await client.ended();
    client.close();
  });
});

test("headers that take longer than the operator allows get a 408 with the limit", async () => {
  const options = { limits: { ...LIMITS, headersTimeoutMs: 50 }, wire: { checkIntervalMs: 10 } };
  await withServer(await fakeServer(options), async (port) => {
    const client = await WireClient.open(port);
    await client.send("GET /health HTTP/1.1\r\nHost:");
    const answer = await client.read();
    assertRefusal(answer, 408);
    assert.match(String(answer.body.detail), /0\.05 s/);
    client.close();
  });
});

test("one connection more than allowed gets a 503 and the end, without a reset, until another has closed", async () => {
  const limits = { ...LIMITS, maxConnections: 2 };
  await withServer(await fakeServer({ limits }), async (port) => {
    const ask = async (client: WireClient) => {
      await client.send(head("GET /health"));
      return await client.read();
    };
    const [first, second] = [await WireClient.open(port), await WireClient.open(port)];
    assert.deepEqual([(await ask(first)).status, (await ask(second)).status], [200, 200]);
    const third = await WireClient.open(port);
    third.socket.pause();
    await third.send(`${WHOLE}{}`, WHOLE, "{}"); // it writes before it reads
    third.socket.resume();
    const refusal = await third.read();
    assertRefusal(refusal, 503);
    assert.equal(refusal.headers["retry-after"], "1");
    await third.ended();
    assert.equal(third.error, undefined);
    await assert.rejects(third.read(), /connection ended after: $/);
    third.close();
    first.close();
    for (let isServed = false; !isServed; ) {
      const fourth = await WireClient.open(port); // the server may not have seen the close yet
      isServed = (await ask(fourth)).status === 200;
      fourth.close();
    }
    assert.equal((await ask(second)).status, 200);
    second.close();
  });
});

/** A contract whose answers come when the test says so. */
function heldContract() {
  let finish = (): void => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const contract = fakeContract(async () => {
    await held;
    return json(200, { held: true });
  });
  return { contract, finish };
}

test("a connection that is reset after CONNECT, while an earlier request is worked on, ends nothing but itself", async () => {
  const { contract, finish } = heldContract();
  await withServer(await fakeServer({ contract }), async (port) => {
    const client = await WireClient.open(port);
    await client.send(`${WHOLE}{}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
    await untilRead(port);
    client.socket.resetAndDestroy();
    await untilRead(port);
    finish();
    const next = await WireClient.open(port);
    await next.send(head("GET /health"));
    assert.equal((await next.read()).status, 200);
    next.close();
  });
});

test("who does not read an answer is let go, who waits for one that long is not", async () => {
  const { contract, finish } = heldContract();
  const call = async (incoming: IncomingCall) =>
    incoming.operationId === "getHealth"
      ? json(200, { big: "x".repeat(16 * 1024 * 1024) })
      : await contract.call(incoming);
  const server = await fakeServer({ contract: { ...contract, call }, wire: { unreadTimeoutMs: 300 } });
  await withServer(server, async (port) => {
    const waiting = await WireClient.open(port);
    await waiting.send(`${WHOLE}{}`);
    await untilRead(port);
    const accepted = once(server.server, "connection");
    const deaf = await WireClient.open(port);
    deaf.socket.pause();
    const [socket] = await accepted;
    await deaf.send(head("GET /health"));
    await once(socket, "close", { signal: AbortSignal.timeout(60_000) });
    deaf.socket.resume();
    await assert.rejects(deaf.read(), /connection ended/);
    finish();
    assert.equal((await waiting.read()).body.held, true);
    for (const client of [waiting, deaf]) client.close();
  });
});
