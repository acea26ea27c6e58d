import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, mock, type TestContext } from "node:test";
import { RemoteClient } from "../../src/backends/remote/client.ts";

const MIB = 2 ** 20;

/** A server whose answers the test gives, and a client of it. */
async function setUp(t: TestContext, answer: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume().on("end", () => answer(response));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // a TCP listener's address is an AddressInfo
  const client = new RemoteClient({
    url: `http://127.0.0.1:${port}`,
    connections: 1,
    timeoutMs: 3_600_000,
    connectTimeoutMs: 5_000,
  });
  t.after(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  return client;
}

describe("the client of a remote server", () => {
  it("waits for an answer as long as --remote-timeout-ms says, also more than five minutes", async (t) => {
    mock.timers.enable({ apis: ["setTimeout"] });
    t.after(() => mock.timers.reset());
    let came = (_: ServerResponse): void => {};
    const waiting = new Promise<ServerResponse>((resolve) => {
      came = resolve;
    });
    const client = await setUp(t, (response) => came(response));
    const answered = client.post("/", {}, Buffer.from("x"));
    answered.catch(() => {}); // awaited below
    const response = await waiting;
    for (let seconds = 0; seconds < 400; seconds++) mock.timers.tick(1000);
    response.write("a");
    for (let seconds = 0; seconds < 400; seconds++) mock.timers.tick(1000);
    response.end("b");
    assert.equal((await answered).body.toString(), "ab");
  });

  it("refuses an answer without an end", async (t) => {
    let sent = 0;
    const client = await setUp(t, (response) => {
      const more = () => {
        sent += MIB;
        if (!response.destroyed) response.write(Buffer.alloc(MIB), more);
      };
      more();
    });
    await assert.rejects(client.post("/", {}, Buffer.from("x")), { code: "UND_ERR_RES_EXCEEDED_MAX_SIZE" });
    assert.ok(sent < 200 * MIB, `${sent} bytes were sent`);
  });
});
