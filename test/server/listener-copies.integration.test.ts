import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import path from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { copyListener } from "../../src/server/wire/listener-copies.ts";
import { packageRoot } from "../support/package-root.ts";

const CONNECTIONS = 64;
const GET = "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

async function listening<S extends Server>(server: S): Promise<S> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Reads to the end of the connection. @returns whether the answer holds `body` */
async function isAnswered(socket: Socket, body: string): Promise<boolean> {
  let text = "";
  for await (const chunk of socket.setEncoding("utf8")) text += String(chunk);
  return text.includes(body);
}

/** Opens connections at once. @returns how many the server accepts in the turn of the event loop with the most */
async function mostInATurn(server: Server): Promise<number> {
  const sockets: Socket[] = [];
  let accepted = 0;
  server.on("connection", () => {
    accepted += 1;
  });
  for (let at = 0; at < CONNECTIONS; at += 1) sockets.push(connect(portOf(server), "127.0.0.1"));
  let most = 0;
  while (accepted < CONNECTIONS) {
    const before = accepted;
    await setImmediate();
    most = Math.max(most, accepted - before);
  }
  for (const socket of sockets) socket.destroy();
  return most;
}

test("with copies, one turn of the event loop accepts several connections", async () => {
  const server = await listening(createServer());
  await copyListener(server);
  const most = await mostInATurn(server);
  server.close();
  assert.ok(most >= 8, `at most ${most} in a turn`);
});

test("control: without copies, each turn accepts one", async () => {
  const server = await listening(createServer());
  const most = await mostInATurn(server);
  server.close();
  assert.equal(most, 1);
});

test("requests on all connections are answered, also to clients that have closed their half", async () => {
  const server = await listening(createServer((_, response) => setTimeout(() => response.end("here"), 5)));
  Object.assign(server, { httpAllowHalfOpen: true }); // otherwise Node.js ends such connections itself
  await copyListener(server);
  const answers = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => {
      const socket = connect({ port: portOf(server), host: "127.0.0.1", allowHalfOpen: true });
      return isAnswered(socket.end(GET), "here");
    }),
  );
  assert.deepEqual(new Set(answers), new Set([true]));
  server.close();
});

test("closing ends the copies as well, and its callback waits for their connections", async () => {
  const requests: { answer: () => void }[] = [];
  const server = await listening(
    createServer((_, response) => requests.push({ answer: () => response.end("late") })),
  );
  await copyListener(server);
  const port = portOf(server);
  const clients = Array.from({ length: CONNECTIONS }, () => request({ port, agent: false }).end());
  const answers = clients.map((client) => once(client, "response"));
  while (requests.length < CONNECTIONS) await setImmediate();
  let isClosed = false;
  const closed = new Promise<void>((resolve) =>
    server.close(() => {
      isClosed = true;
      resolve();
    }),
  );
  const refused = connect(port, "127.0.0.1");
  const [error] = await once(refused, "error");
  assert.equal(error.code, "ECONNREFUSED");
  const [last, ...others] = requests;
  for (const { answer } of others) answer();
  await Promise.all(answers.slice(1));
  await setImmediate();
  assert.equal(isClosed, false, "one request is not answered");
  last?.answer();
  for (const answer of answers) {
    const [response] = await answer;
    response.resume();
  }
  await closed;
});

test("an error of closing reaches the callback", async () => {
  const server = await listening(createServer());
  await copyListener(server);
  await new Promise((resolve) => server.close(resolve));
  const error = await new Promise<Error | undefined>((resolve) => server.close(resolve));
  assert.match(String(error), /not running/);
});

test("a server that closes meanwhile keeps no copy", async () => {
  const server = await listening(createServer());
  const port = portOf(server);
  const copied = copyListener(server);
  await new Promise((resolve) => server.close(resolve));
  await copied;
  const [error] = await once(connect(port, "127.0.0.1"), "error");
  assert.equal(error.code, "ECONNREFUSED");
});

test("copies serve TLS", async () => {
  const pem = (name: string) => readFileSync(path.join(packageRoot, "test/support/tls", name));
  const server = await listening(
    createTlsServer({ cert: pem("first.crt"), key: pem("first.key") }, (_, response) => response.end("safe")),
  );
  await copyListener(server);
  const answers = await Promise.all(
    Array.from({ length: 32 }, () => {
      const socket = connectTls({ port: portOf(server), host: "127.0.0.1", rejectUnauthorized: false });
      socket.write(GET);
      return isAnswered(socket, "safe");
    }),
  );
  assert.deepEqual(new Set(answers), new Set([true]));
  server.close();
});

test("without the other process, the server accepts by itself", async () => {
  const { execPath } = process;
  const server = await listening(createServer((_, response) => response.end("alone")));
  try {
    process.execPath = path.join(packageRoot, "no-such-program");
    await copyListener(server);
  } finally {
    process.execPath = execPath;
  }
  const answer = await fetch(`http://127.0.0.1:${portOf(server)}`);
  assert.equal(await answer.text(), "alone");
  server.close();
  server.closeAllConnections();
});
