import assert from "node:assert/strict";
import { test } from "node:test";
import type { IncomingCall } from "../../src/contract/call.ts";
import { sentBytes } from "../support/sent-bytes.ts";
import { fakeContract, fakeServer, json, KEY, LIMITS, memoryLog, withServer } from "./doubles.ts";
import { head, WireClient } from "./wire.ts";

const TYPE = "Content-Type: application/json";
const AUTHORIZED = [TYPE, `Authorization: Bearer ${KEY}`];
const post = (...lines: string[]) => head("POST /v1/systemone", ...lines);
const asking = (bytes: number) => post(...AUTHORIZED, `Content-Length: ${bytes}`);
const MIB_CHUNK = `100000\r\n${" ".repeat(1_048_576)}\r\n`;

/** A server whose queue is full when `isFull` says so. */
function busy(isFull: () => boolean = () => true) {
  const told: string[] = [];
  const calls: IncomingCall[] = [];
  const contract = fakeContract(async (call) => {
    calls.push(call);
    return json(200, { bytes: sentBytes(call).byteLength });
  });
  const admission = {
    isFull,
    countEarly: (reason: string) => told.push(reason),
  };
  return { told, calls, options: { contract, admission } };
}

async function withClient(options: object, run: (client: WireClient) => Promise<void>): Promise<void> {
  await withServer(await fakeServer(options), async (port) => {
    const client = await WireClient.open(port);
    try {
      await run(client);
    } finally {
      client.close();
    }
  });
}

test("a full queue refuses a request before its body, counts it, and keeps the connection", async () => {
  const { told, calls, options } = busy();
  await withClient(options, async (client) => {
    await client.send(asking(100_000));
    const refusal = await client.read();
    assert.equal(refusal.status, 503);
    assert.equal(refusal.headers["retry-after"], "1");
    assert.equal(refusal.body.detail, "The inference queue is full.");
    await client.send("x".repeat(100_000), asking(2), "{}", head("GET /health"));
    assert.equal((await client.read()).status, 503);
    assert.equal((await client.read()).status, 200);
    assert.equal(client.error, undefined);
  });
  assert.deepEqual(told, ["rejected", "rejected"]);
  assert.deepEqual(
    calls.map(({ operationId }) => operationId),
    ["getHealth"],
  );
});

const BEFORE = [
  { name: "a wrong key", given: post(TYPE, "Authorization: Bearer wrong", "Content-Length: 2"), status: 401 },
  { name: "no key", given: post(TYPE, "Content-Length: 2"), status: 401 },
  {
    name: "a media type",
    given: post("Content-Type: text/plain", `Authorization: Bearer ${KEY}`, "Content-Length: 2"),
    status: 422,
  },
  { name: "an announced size", given: asking(LIMITS.maxBodyBytes + 1), status: 413 },
  { name: "an unknown path", given: head("POST /v1/nothing", ...AUTHORIZED), status: 404 },
  { name: "a method", given: head("GET /v1/systemone", ...AUTHORIZED), status: 405 },
  { name: "an operation without a body", given: head("GET /health"), status: 200 },
  { name: "two Hosts", given: post(...AUTHORIZED, "Host: other", "Content-Length: 2"), status: 400 },
  { name: "an expectation", given: post(...AUTHORIZED, "Expect: more", "Content-Length: 2"), status: 417 },
];
for (const { name, given, status } of BEFORE) {
  test(`${name} comes before the full queue: ${status}`, async () => {
    const { told, options } = busy();
    await withClient(options, async (client) => {
      await client.send(given);
      assert.equal((await client.read()).status, status);
    });
    assert.deepEqual(told, []);
  });
}

const AFTER = [
  ["a query", head("POST /v1/systemone?a=b", ...AUTHORIZED, "Content-Length: 2")],
  ["a body that is no JSON", `${asking(1)}{`],
  ["no body at all", asking(0)],
  ["an expectation of 100", post(...AUTHORIZED, "Expect: 100-continue", "Content-Length: 2")],
  ["a chunked body", post(...AUTHORIZED, "Transfer-Encoding: chunked")],
  ["HTTP/1.0", `POST /v1/systemone HTTP/1.0\r\n${AUTHORIZED.join("\r\n")}\r\nContent-Length: 2\r\n\r\n`],
] as const;
for (const [name, given] of AFTER) {
  test(`the full queue comes before anything about ${name}`, async () => {
    const { told, calls, options } = busy();
    await withClient(options, async (client) => {
      await client.send(given);
      assert.equal((await client.read()).status, 503);
    });
    assert.deepEqual([told, calls], [["rejected"], []]);
  });
}

test("a refusal has the headers and the log line of any other answer", async () => {
  const log = memoryLog();
  let isFull = true;
  const { options } = busy(() => isFull);
  const fields = async (client: WireClient) => {
    await client.send(post(...AUTHORIZED, "X-Request-Id: mine", "Content-Length: 2"), "{}");
    const { headers } = await client.read();
    const [entry] = log.entries.splice(0).filter(({ message }) => message === "request");
    return { headers, logged: entry };
  };
  await withClient({ ...options, log }, async (client) => {
    const refusal = await fields(client);
    isFull = false;
    const answer = await fields(client);
    const { "retry-after": retryAfter, "x-decision-error": code, ...refusalHeaders } = refusal.headers;
    assert.deepEqual([retryAfter, code], ["1", "QUEUE_FULL"]);
    assert.deepEqual(Object.keys(refusalHeaders).sort(), Object.keys(answer.headers).sort());
    const { date: _, "content-length": __, ...same } = answer.headers;
    for (const [name, value] of Object.entries(same)) assert.equal(refusalHeaders[name], value, name);
    assert.equal(refusal.headers["x-request-id"], "mine");
    assert.equal(refusal.logged?.level, "info");
    const { ms, ...rest } = refusal.logged?.fields ?? {};
    assert.equal(typeof ms, "number");
    const common = { method: "POST", operation: "systemone", requestId: "mine", key: "default" };
    assert.deepEqual(rest, { ...common, status: 503, code: "QUEUE_FULL" });
    const { ms: __ms, ...answered } = answer.logged?.fields ?? {};
    assert.deepEqual(answered, { ...common, status: 200 });
  });
});

test("a client that writes 20 MiB before it reads gets its refusal and no reset", async () => {
  const { options } = busy();
  await withClient(options, async (client) => {
    client.socket.pause();
    await client.send(
      post(...AUTHORIZED, "Transfer-Encoding: chunked"),
      ...Array<string>(20).fill(MIB_CHUNK),
    );
    client.socket.resume();
    const refusal = await client.read();
    assert.deepEqual([refusal.status, refusal.headers.connection], [503, "close"]);
    await client.ended();
    assert.equal(client.error, undefined);
  });
});

test("garbage in the body of a refused request is answered by nothing more", async () => {
  const { options } = busy();
  await withClient(options, async (client) => {
    await client.send(post(...AUTHORIZED, "Transfer-Encoding: chunked"));
    assert.equal((await client.read()).status, 503);
    await client.send("garbage\r\n");
    await client.ended();
    await assert.rejects(client.read(), /connection ended after: $/);
  });
});

test("answers keep the order of requests that came together, the refused ones among them", async () => {
  let looks = 0;
  const { options } = busy(() => ++looks > 1);
  await withClient(options, async (client) => {
    await client.send(`${asking(2)}{}`);
    assert.equal((await client.read()).status, 200);
    await client.send(`${head("GET /health")}${asking(2)}{}${head("GET /openapi.json")}`);
    const statuses = [await client.read(), await client.read(), await client.read()].map(
      ({ status }) => status,
    );
    assert.deepEqual(statuses, [200, 503, 200]);
  });
});

test("while the service shuts down, a refusal closes its connection", async () => {
  const { options } = busy();
  const app = await fakeServer(options);
  app.isDraining = true;
  await withServer(app, async (port) => {
    const client = await WireClient.open(port);
    await client.send(asking(2), "{}");
    assert.equal((await client.read()).headers.connection, "close");
    await client.ended();
    client.close();
  });
});
