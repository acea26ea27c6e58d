import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { IncomingCall } from "../../src/contract/call.ts";
import { FakeClock } from "../inference/fake-clock.ts";
import { fakeContract, fakeServer, json, KEY, MAX_BODY_BYTES, withServer } from "./doubles.ts";
import { head, untilRead, WireClient } from "./wire.ts";

const JSON_TYPE = "Content-Type: application/json";
const AUTHORIZED = `Authorization: Bearer ${KEY}`;
const MIB = Buffer.alloc(1024 * 1024, 0x20);
const MIB_CHUNK = Buffer.concat([Buffer.from("100000\r\n"), MIB, Buffer.from("\r\n")]);

function post(...lines: string[]): string {
  return head("POST /v1/systemone", ...lines);
}

async function withClient(run: (client: WireClient) => Promise<void>, options = {}): Promise<void> {
  await withServer(await fakeServer(options), async (port) => {
    const client = await WireClient.open(port);
    try {
      await run(client);
    } finally {
      client.close();
    }
  });
}

test("a body of exactly the limit is read, announced or chunked", async () => {
  await withClient(async (client) => {
    await client.send(post(JSON_TYPE, AUTHORIZED, `Content-Length: ${MAX_BODY_BYTES}`), MIB, MIB);
    assert.equal((await client.read()).body.bytes, MAX_BODY_BYTES);
    await client.send(
      post(JSON_TYPE, AUTHORIZED, "Transfer-Encoding: chunked"),
      MIB_CHUNK,
      MIB_CHUNK,
      "0\r\n\r\n",
    );
    assert.equal((await client.read()).body.bytes, MAX_BODY_BYTES);
  });
});

const SMALL_REFUSALS = [
  { name: "401", lines: [JSON_TYPE], status: 401 },
  { name: "422 for the media type", lines: ["Content-Type: text/plain", AUTHORIZED], status: 422 },
  { name: "413 by the announced length", lines: [JSON_TYPE, AUTHORIZED], status: 413 },
];
for (const { name, lines, status } of SMALL_REFUSALS) {
  test(`a ${name} comes before the body is sent, and the connection goes on after it`, async () => {
    await withClient(async (client) => {
      await client.send(post(...lines, `Content-Length: ${3 * MIB.length}`));
      const refusal = await client.read();
      assert.equal(refusal.status, status);
      assert.notEqual(refusal.headers.connection, "close");
      await client.send(MIB, MIB, MIB, head("GET /health"));
      assert.equal((await client.read()).status, 200);
      assert.equal(client.error, undefined);
    });
  });
}

test("one byte more than the limit is refused, announced or chunked", async () => {
  await withClient(async (client) => {
    await client.send(post(JSON_TYPE, AUTHORIZED, `Content-Length: ${MAX_BODY_BYTES + 1}`), MIB, MIB, " ");
    assert.equal((await client.read()).status, 413);
    await client.send(
      post(JSON_TYPE, AUTHORIZED, "Transfer-Encoding: chunked"),
      MIB_CHUNK,
      MIB_CHUNK,
      "1\r\n \r\n",
    );
    const refusal = await client.read();
    assert.equal(refusal.status, 413);
    assert.equal(refusal.headers.connection, "close");
  });
});

const BIG_UPLOADS = [
  ["chunked without a key", [JSON_TYPE, "Transfer-Encoding: chunked"], MIB_CHUNK, 401],
  ["chunked with a key", [JSON_TYPE, AUTHORIZED, "Transfer-Encoding: chunked"], MIB_CHUNK, 413],
  ["announced, 20 MiB", [JSON_TYPE, AUTHORIZED, `Content-Length: ${20 * MIB.length}`], MIB, 413],
  [
    "announced, on a connection that shall close",
    [JSON_TYPE, "Connection: close", `Content-Length: ${20 * MIB.length}`],
    MIB,
    401,
  ],
] as const;
for (const [name, lines, body, status] of BIG_UPLOADS) {
  test(`a client that reads only after it has written 20 MiB gets its answer and no reset: ${name}`, async () => {
    await withClient(async (client) => {
      client.socket.pause();
      await client.send(post(...lines), ...Array.from({ length: 20 }, () => body));
      client.socket.resume();
      const refusal = await client.read();
      assert.equal(refusal.status, status);
      assert.equal(refusal.headers.connection, "close");
      await client.ended();
      assert.equal(client.error, undefined);
    });
  });
}

test("a connection is idle once the body that was refused has come: closing does not wait for it", async () => {
  const app = await fakeServer();
  await withServer(app, async (port) => {
    const client = await WireClient.open(port);
    await client.send(post(JSON_TYPE, AUTHORIZED, `Content-Length: ${3 * MIB.length}`));
    assert.equal((await client.read()).status, 413);
    await client.send(MIB, MIB, MIB);
    await untilRead(port);
    app.server.closeIdleConnections();
    await client.ended();
    assert.equal(client.error, undefined);
  });
});

test("a client that sent only headers sees the end of a refused connection at once", async () => {
  await withClient(async (client) => {
    await client.send(post(JSON_TYPE, "Transfer-Encoding: chunked"));
    assert.equal((await client.read()).status, 401);
    await client.ended();
  });
});

test("requests sent after a refusal that closes the connection are not run", async () => {
  let calls = 0;
  const contract = fakeContract(async () => {
    calls += 1;
    return json(200, {});
  });
  await withClient(
    async (client) => {
      await client.send(post(JSON_TYPE, "Transfer-Encoding: chunked"));
      assert.equal((await client.read()).status, 401);
      await client.send("0\r\n\r\n", head("GET /health"));
      client.socket.end();
      await client.ended();
      assert.equal(calls, 0);
    },
    { contract },
  );
});

test("a 100 is sent only after the checks that need no body", async () => {
  await withClient(async (client) => {
    await client.send(post(JSON_TYPE, AUTHORIZED, "Expect: 100-continue", "Content-Length: 2"));
    assert.equal((await client.read()).status, 100);
    await client.send("{}");
    assert.equal((await client.read()).body.bytes, 2);
    await client.send(post(JSON_TYPE, "Expect: 100-Continue", "Content-Length: 2"));
    const refusal = await client.read();
    assert.equal(refusal.status, 401);
    assert.equal(refusal.headers.connection, "close");
    await client.ended();
  });
});

test("a call has the arrival time of its headers, however long its body takes", async () => {
  const clock = new FakeClock();
  const arrivals: unknown[] = [];
  const contract = fakeContract(async ({ arrivedAt }) => {
    arrivals.push(arrivedAt);
    return json(200, {});
  });
  await withClient(
    async (client) => {
      clock.advance(1_000);
      await client.send(post(JSON_TYPE, AUTHORIZED, "Expect: 100-continue", "Content-Length: 2"));
      assert.equal((await client.read()).status, 100);
      clock.advance(5_000);
      await client.send("{}");
      assert.equal((await client.read()).status, 200);
    },
    { contract, clock },
  );
  assert.deepEqual(arrivals, [1_000]);
});

test("an unknown expectation gets a 417", async () => {
  await withClient(async (client) => {
    await client.send(post(JSON_TYPE, AUTHORIZED, "Expect: tea", "Content-Length: 2"), "{}");
    const refusal = await client.read();
    assert.equal(refusal.status, 417);
    assert.equal(typeof refusal.body.detail, "string");
  });
});

test("the body of a GET is ignored and not read as the next request", async () => {
  await withClient(async (client) => {
    await client.send(
      head("GET /health", "Content-Length: 24"),
      "GET /nowhere HTTP/1.1\r\n\r\n".slice(0, 24),
    );
    assert.equal((await client.read()).status, 200);
    await client.send(head("GET /health"));
    assert.equal((await client.read()).status, 200);
  });
});

test("a caller who leaves aborts the call, a pipelined one too, and nothing is written", async () => {
  const calls: IncomingCall[] = [];
  let onSecond = (): void => {};
  const second = new Promise<void>((resolve) => {
    onSecond = resolve;
  });
  const contract = fakeContract(async (call) => {
    calls.push(call);
    if (calls.length === 2) onSecond();
    await once(call.signal, "abort");
    return json(200, {});
  });
  await withClient(
    async (client) => {
      const request = `${post(JSON_TYPE, AUTHORIZED, "Content-Length: 2")}{}`;
      await client.send(request, request);
      await second;
      const aborted = Promise.all(calls.map(({ signal }) => once(signal, "abort")));
      client.close();
      await aborted;
    },
    { contract },
  );
});

test("the signal is not aborted once the answer is written", async () => {
  const signals: AbortSignal[] = [];
  const contract = fakeContract(async ({ signal }) => {
    signals.push(signal);
    return json(200, {});
  });
  await withClient(
    async (client) => {
      await client.send(head("GET /health"));
      await client.read();
      client.close();
    },
    { contract },
  );
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [false],
  );
});
