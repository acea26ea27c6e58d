import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, get } from "node:https";
import { type AddressInfo, connect } from "node:net";
import path from "node:path";
import { test } from "node:test";
import { packageRoot } from "../support/package-root.ts";
import { fakeServer, LIMITS, withServer } from "./doubles.ts";

const file = (name: string) => readFileSync(path.join(packageRoot, "test/support/tls", name));
const tls = { cert: file("first.crt"), key: file("first.key") };

/** A client with one connection, which it keeps. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  /** @returns the status; undefined if the connection was closed without an answer */
  ask(): Promise<number | undefined> {
    return new Promise((resolve) => {
      get({ port: this.#port, path: "/health", agent: this.#agent }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode));
      }).on("error", () => resolve(undefined));
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

test("an encrypted connection that is idle is closed when the server closes", async () => {
  const app = await fakeServer({ tls });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const client = new Client((app.server.address() as AddressInfo).port);
  assert.deepEqual([await client.ask(), await client.ask()], [200, 200]);
  await app.close(); // the test runner's time limit ends a close that waits for the connection
  client.close();
});

test("an encrypted connection over the limit is closed", async () => {
  const app = await fakeServer({ tls, limits: { ...LIMITS, maxConnections: 1 } });
  await withServer(app, async (port) => {
    const [first, second] = [new Client(port), new Client(port)];
    assert.deepEqual([await first.ask(), await second.ask(), await first.ask()], [200, undefined, 200]);
    for (const client of [first, second]) client.close();
  });
});

test("a handshake that does not come counts as a connection", async () => {
  const limits = { ...LIMITS, maxConnections: 1 };
  const app = await fakeServer({ tls, limits });
  await withServer(app, async (port) => {
    const silent = connect({ port, host: "127.0.0.1" });
    await once(app.server, "connection");
    const client = new Client(port);
    assert.equal(await client.ask(), undefined);
    silent.destroy();
    client.close();
  });
});
