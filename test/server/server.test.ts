import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ServiceError } from "../../src/errors.ts";
import { fakeContract, fakeServer, json, KEY, LIMITS, memoryLog, OPEN, withServer } from "./doubles.ts";
import { head, WireClient } from "./wire.ts";

const log = memoryLog();
const app = await fakeServer({ log });
after(() => app.close());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Of a request for answers that is let in. */
const askingHead = (...lines: readonly string[]) =>
  head("POST /v1/systemone", "Content-Type: application/json", `Authorization: Bearer ${KEY}`, ...lines);
const POST = { method: "POST", url: "/v1/systemone", payload: "{}" } as const;
const JSON_TYPE = { "content-type": "application/json" };

const UNKNOWN = [
  { name: "an unknown path", method: "GET", url: "/nowhere", status: 404 },
  { name: "an unknown path under a known one", method: "POST", url: "/v1/systemone/x", status: 404 },
  { name: "a trailing slash", method: "GET", url: "/health/", status: 404 },
  { name: "a doubled slash", method: "GET", url: "//health", status: 404 },
  { name: "another case", method: "GET", url: "/Health", status: 404 },
  { name: "an escaped slash", method: "POST", url: "/v1%2Fsystemone", status: 404 },
  { name: "an escape that is no UTF-8", method: "GET", url: "/%ff", status: 404 },
  { name: "an escape that is none", method: "GET", url: "/%zz", status: 400 },
  { name: "an asset that does not exist", method: "GET", url: "/docs/static/nothing.js", status: 404 },
  { name: "a way out of the assets", method: "GET", url: "/docs/static/..%2f..%2fpackage.json", status: 404 },
  { name: "a wrong method", method: "DELETE", url: "/health", status: 405, allow: "GET, HEAD" },
  { name: "HEAD on a POST path", method: "HEAD", url: "/v1/systemone", status: 405, allow: "POST" },
  { name: "GET on a POST path", method: "GET", url: "/v1/systemone?a=b", status: 405, allow: "POST" },
  { name: "POST on a page", method: "POST", url: "/docs", status: 405, allow: "GET, HEAD" },
  { name: "OPTIONS", method: "OPTIONS", url: "/v1/systemone", status: 405, allow: "POST" },
] as const;
for (const { name, method, url, status, ...rest } of UNKNOWN) {
  test(`${name} gets a JSON ${status}`, async () => {
    const answer = await app.inject({ method, url });
    assert.equal(answer.statusCode, status);
    assert.equal(answer.headers.allow, "allow" in rest ? rest.allow : undefined);
    assert.equal(answer.headers["content-type"], "application/json");
    assert.match(String(answer.headers["x-request-id"]), UUID);
    if (method !== "HEAD") assert.deepEqual(Object.keys(answer.json()), ["detail"]);
  });
}

const EXTRA_SLASHES = [
  { method: "GET", url: "/health/", path: "/health" },
  { method: "GET", url: "//health", path: "/health" },
  { method: "POST", url: "//v1//systemone/?a=b", path: "/v1/systemone" },
  { method: "GET", url: "/v1/systemone///", path: "/v1/systemone" },
  { method: "POST", url: "/mcp/", path: "/mcp" },
] as const;
for (const { method, url, path } of EXTRA_SLASHES) {
  test(`${method} ${url} is told the right path`, async () => {
    const app = await fakeServer({ openMcp: () => assert.fail("not called") });
    const { detail } = (await app.inject({ method, url })).json();
    assert.equal(
      detail,
      `This path does not exist. Send the request to ${path}, without the additional slash.`,
    );
    await app.close();
  });
}

test("methods that Fastify does not know are answered like any other", async () => {
  await withServer(await fakeServer(), async (port) => {
    for (const method of ["PURGE", "PROPFIND", "REPORT", "TRACE"]) {
      const client = await WireClient.open(port);
      await client.send(`${method} /health HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`);
      const wrong = await client.read();
      assert.deepEqual([wrong.status, wrong.headers.allow], [405, "GET, HEAD"], method);
      await client.send(`${method} /nowhere HTTP/1.1\r\nHost: a\r\n\r\n`);
      assert.equal((await client.read()).status, 404, method);
      client.close();
    }
  });
});

test("OPTIONS * and absolute targets are understood", async () => {
  await withServer(await fakeServer(), async (port) => {
    const client = await WireClient.open(port);
    await client.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
    assert.equal((await client.read()).status, 404);
    await client.send("GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert.equal((await client.read()).status, 200);
    client.close();
  });
});

test("HEAD answers as GET does, without the body", async () => {
  const answer = await app.inject({ method: "HEAD", url: "/health" });
  const length = (await app.inject({ method: "GET", url: "/health" })).headers["content-length"];
  assert.deepEqual([answer.statusCode, answer.body, answer.headers["content-length"]], [200, "", length]);
});

test("two Authorization headers are refused, whichever holds the key", async () => {
  await withServer(await fakeServer(), async (port) => {
    const client = await WireClient.open(port);
    const right = `Authorization: Bearer ${KEY}`;
    for (const lines of [
      [right, right],
      [right, "authorization: Bearer wrong"],
    ]) {
      await client.send(
        head("POST /v1/systemone", "Content-Type: application/json", ...lines, "Content-Length: 0"),
      );
      assert.equal((await client.read()).status, 401);
    }
    client.close();
  });
});

test("two Content-Type headers are both seen", async () => {
  await withServer(await fakeServer(), async (port) => {
    const client = await WireClient.open(port);
    const types = ["Content-Type: application/json", "Content-Type: text/plain"];
    const line = head("POST /v1/systemone", ...types, `Authorization: Bearer ${KEY}`, "Content-Length: 0");
    await client.send(line);
    assert.equal((await client.read()).status, 422);
    client.close();
  });
});

test("a key beyond ASCII is compared as the bytes that the caller sends", async () => {
  const own = await fakeServer({ apiKey: "schlüssel" });
  const authorization = `Bearer ${Buffer.from("schlüssel", "utf8").toString("latin1")}`;
  assert.equal((await own.inject({ ...POST, headers: { ...JSON_TYPE, authorization } })).statusCode, 200);
  await own.close();
});

test("the key is checked before the media type, and never on routes that need none", async () => {
  assert.equal((await app.inject({ ...POST, headers: { "content-type": "text/plain" } })).statusCode, 401);
  assert.equal((await app.inject({ method: "GET", url: "/health" })).statusCode, 200);
});

test("without a configured key nothing is checked", async () => {
  const open = await fakeServer({ apiKey: undefined });
  assert.equal((await open.inject({ ...POST, headers: JSON_TYPE })).statusCode, 200);
  await open.close();
});

const REQUEST_IDS = [
  { name: "a safe token is kept", given: "abc-1.2_3", isKept: true },
  { name: "128 characters are kept", given: "a".repeat(128), isKept: true },
  { name: "129 characters are replaced", given: "a".repeat(129), isKept: false },
  { name: "an empty one is replaced", given: "", isKept: false },
  { name: "a space is replaced", given: "a b", isKept: false },
  { name: "a list is replaced", given: ["a", "b"], isKept: false },
];
for (const { name, given, isKept } of REQUEST_IDS) {
  test(`x-request-id: ${name}`, async () => {
    for (const url of ["/health", "/nowhere", "/docs", "/%zz"]) {
      const answer = await app.inject({ method: "GET", url, headers: { "x-request-id": given } });
      const id = String(answer.headers["x-request-id"]);
      if (isKept) assert.equal(id, given);
      else assert.match(id, UUID);
    }
  });
}

const FAULTS = [
  { name: "thrown", call: async (cause: Error) => Promise.reject(cause) },
  { name: "answered", call: async (cause: Error) => ({ ...json(500, { detail: "failed" }), cause }) },
];
for (const { name, call } of FAULTS) {
  test(`a fault that is ${name} is answered without its cause and logged with it`, async () => {
    const own = memoryLog();
    const cause = new ServiceError("INTERNAL", "disk on fire");
    const failing = await fakeServer({ contract: fakeContract(() => call(cause)), log: own });
    const answer = await failing.inject({ method: "GET", url: "/health" });
    assert.deepEqual([answer.statusCode, answer.json()], [500, { detail: "failed" }]);
    const faults = own.entries.filter(({ level }) => level === "error");
    const requestId = answer.headers["x-request-id"];
    assert.deepEqual(
      faults.map(({ fields }) => fields),
      [{ err: cause, status: 500, operation: "getHealth", requestId }],
    );
    await failing.close();
  });
}

test("a request is logged with operation and status, never with its content", async () => {
  const own = memoryLog();
  const logged = await fakeServer({ log: own });
  const headers = { ...JSON_TYPE, authorization: `Bearer ${KEY}`, "x-secret": "hidden" };
  await logged.inject({ method: "POST", url: "/v1/systemone?hidden", payload: '"hidden"', headers });
  const [entry] = own.entries.filter(({ message }) => message === "request");
  assert.equal(entry?.level, "info");
  const { ms, requestId, ...rest } = entry?.fields ?? {};
  assert.deepEqual(rest, { method: "POST", operation: "systemone", status: 200, key: "default" });
  assert.deepEqual([typeof ms, typeof requestId], ["number", "string"]);
  assert.doesNotMatch(JSON.stringify(own.entries), /hidden|s3cret/);
  await logged.close();
});

test("the answer's own headers are kept", async () => {
  const contract = fakeContract(async () => {
    const reply = json(503, { detail: "full" });
    return { ...reply, headers: { ...reply.headers, "retry-after": "1" } };
  });
  const busy = await fakeServer({ contract });
  const answer = await busy.inject({ method: "GET", url: "/health" });
  assert.deepEqual([answer.statusCode, answer.headers["retry-after"]], [503, "1"]);
  await busy.close();
});

test("if incomplete bodies take all the memory for bodies, they are evicted for those that complete", async () => {
  const told: string[] = [];
  const admission = { ...OPEN, countEarly: (reason: string) => told.push(reason) };
  const limits = { ...LIMITS, bodyMemoryBytes: 100_000 };
  await withServer(await fakeServer({ limits, admission }), async (port) => {
    const [endless, whole] = [await WireClient.open(port), await WireClient.open(port)];
    await endless.send(askingHead("Content-Length: 70000"), "x".repeat(60_000));
    // whichever of them is read first: one that is whole, or comes later, is the one that stays
    await whole.send(askingHead("Content-Length: 60000"), "x".repeat(60_000));
    assert.equal((await whole.read()).body.bytes, 60_000);
    for (let count = 0; told.length === 0; count += 1) {
      assert.ok(count < 100);
      await whole.send(askingHead("Content-Length: 60000"), "x".repeat(60_000));
      assert.equal((await whole.read()).status, 200);
    }
    const refused = await endless.read();
    assert.deepEqual([refused.status, refused.headers.connection], [503, "close"]);
    assert.deepEqual(told, ["rejected"]);
    await endless.ended();
    assert.equal(endless.error, undefined);
    for (const client of [endless, whole]) client.close();
  });
});

test("a chunked body counts from its first byte on", async () => {
  const limits = { ...LIMITS, bodyMemoryBytes: 100_000 };
  await withServer(await fakeServer({ limits }), async (port) => {
    const client = await WireClient.open(port);
    const chunk = `${(60_000).toString(16)}\r\n${"x".repeat(60_000)}\r\n`;
    await client.send(askingHead("Transfer-Encoding: chunked"), chunk, "0\r\n\r\n");
    assert.equal((await client.read()).body.bytes, 60_000);
    await client.send(askingHead("Transfer-Encoding: chunked"), chunk, chunk);
    assert.equal((await client.read()).status, 503);
    client.close();
  });
});

test("a body that is not there when the deadline passes gets a 504, and the connection ends", async () => {
  const told: string[] = [];
  const admission = { ...OPEN, countEarly: (reason: string) => told.push(reason) };
  // the connection's own time for a request is shorter: the deadline alone decides
  const options = { limits: { ...LIMITS, deadlineMs: 200, headersTimeoutMs: 1 }, admission };
  await withServer(await fakeServer(options), async (port) => {
    const client = await WireClient.open(port);
    await client.send(askingHead("Content-Length: 9"), "{");
    const late = await client.read();
    assert.deepEqual([late.status, late.headers.connection], [504, "close"]);
    assert.deepEqual(told, ["timedOut"]);
    await client.ended();
    assert.equal(client.error, undefined);
    client.close();
  });
});
