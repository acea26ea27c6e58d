import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeServer, withServer } from "./doubles.ts";
import { head, WireClient } from "./wire.ts";

const post = (...lines: string[]) => head("POST /v1/systemone", "Content-Type: application/json", ...lines);

test("a connection that was refused thousands of times still closes in order", async () => {
  await withServer(await fakeServer(), async (port) => {
    const client = await WireClient.open(port);
    const batch = `${post("Content-Length: 2")}{}`.repeat(100);
    for (let sent = 0; sent < 15_000; sent += 100) {
      await client.send(batch);
      for (let read = 0; read < 100; read += 1) assert.equal((await client.read()).status, 401);
    }
    await client.send(post("Transfer-Encoding: chunked"));
    assert.equal((await client.read()).status, 401);
    await client.ended();
    assert.equal(client.error, undefined);
    client.close();
  });
});
