import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { closeLingering, isLingering } from "../../src/server/wire/lingering.ts";

test("however many connections linger, one timer watches them, until the last has gone", async (t) => {
  const started = t.mock.method(globalThis, "setInterval");
  const stopped = t.mock.method(globalThis, "clearInterval");
  const sockets = Array.from({ length: 100 }, () => new Socket());
  for (const socket of sockets) closeLingering(socket);
  assert.equal(started.mock.callCount(), 1);
  const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
  for (const socket of sockets) socket.destroy();
  await Promise.all(closed);
  assert.equal(stopped.mock.callCount(), 1);
  assert.ok(sockets.every(isLingering));
});

test("a connection that has gone already is not watched", async (t) => {
  const started = t.mock.method(globalThis, "setInterval");
  const socket = new Socket();
  socket.destroy();
  closeLingering(socket);
  assert.equal(started.mock.callCount(), 0);
});
