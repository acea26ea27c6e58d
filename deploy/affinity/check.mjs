// Checks the gateways' configurations with the gateways themselves: `npm run check:gateways`. Needs `nginx` and `envoy`
// in PATH, or their paths in NGINX and ENVOY. Behind them stand four servers that only say who they are.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, GATEWAYS } from "./gateways.mjs";

const STATES = 800;

for (const name of Object.keys(GATEWAYS)) await check(name);

async function check(name) {
  const folder = mkdtempSync(path.join(tmpdir(), "gateway-"));
  const servers = await Promise.all(Array.from({ length: 4 }, () => startServer()));
  const front = await freePort();
  const [command, args] = GATEWAYS[name](
    folder,
    front,
    servers.map(({ port }) => port),
  );
  if (name === "envoy") validate(command);
  const gateway = spawn(command, args, { stdio: ["ignore", "ignore", "inherit"] });
  gateway.on("error", ({ message }) => {
    console.error(`${command} cannot be run (${message}): install it, or set ${name.toUpperCase()}.`);
    process.exit(1);
  });
  try {
    await reachesAll(front, servers);
    await checkAffinity(front, servers);
    console.log(
      `${name}: equal states meet the same service, others are spread, and one that is full or gone is passed over`,
    );
  } finally {
    gateway.kill();
    await once(gateway, "exit");
    for (const { server } of servers) server.close().closeAllConnections();
    rmSync(folder, { recursive: true });
  }
}

/** The file as it is: the test replaces its addresses. */
function validate(command) {
  const file = path.join(import.meta.dirname, "envoy.yaml");
  const { error, status, stderr } = spawnSync(command, ["--mode", "validate", "-c", file], {
    encoding: "utf8",
  });
  if (error === undefined) assert.equal(status, 0, stderr);
}

async function startServer() {
  const port = await freePort();
  const one = { port, isFull: false };
  one.server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.statusCode = one.isFull && request.method === "POST" ? 503 : 200;
      response.end(String(port));
    });
  }).listen(port, "127.0.0.1");
  await once(one.server, "listening");
  return one;
}

/** Waits until the gateway sends requests to every server: it finds and checks them one after the other. */
async function reachesAll(front, servers) {
  const reached = new Set();
  for (let tries = 0; tries < 600 && reached.size < servers.length; tries += 1) {
    const port = await fetch(`http://127.0.0.1:${front}/ready`).then(
      (response) => (response.ok ? response.text() : undefined),
      () => undefined,
    );
    if (port !== undefined) reached.add(Number(port));
    await sleep(50);
  }
  assert.equal(reached.size, servers.length, "the gateway reaches every server");
}

async function checkAffinity(front, servers) {
  const ask = async (affinity) => {
    const headers = affinity === undefined ? {} : { "x-decision-affinity": affinity };
    const response = await fetch(`http://127.0.0.1:${front}/v1/systemone`, {
      method: "POST",
      headers,
      body: "{}",
    });
    return { status: response.status, port: Number(await response.text()) };
  };
  const round = async () => {
    const ports = [];
    for (let state = 0; state < STATES; state += 1) ports.push((await ask(`state ${state}`)).port);
    return ports;
  };
  const before = await round();
  assert.deepEqual(await round(), before, "equal states meet the same service");
  assert.equal(new Set(before).size, 4, "states are spread over all services");
  const without = [];
  for (let turn = 0; turn < STATES; turn += 1) without.push((await ask()).port);
  assert.equal(new Set(without).size, 4, "requests without the header are spread");

  const full = servers.find(({ port }) => port === before[0]);
  full.isFull = true;
  for (const [state, usual] of before.entries()) {
    if (usual !== full.port) continue;
    const { status, port } = await ask(`state ${state}`);
    assert.deepEqual(
      [status, port === full.port],
      [200, false],
      `another service answers for one that is full (state ${state})`,
    );
  }
  full.isFull = false;

  full.server.close().closeAllConnections();
  const moved = await round();
  assert.ok(!moved.includes(full.port), "a service that is gone gets nothing");
  const others = [...before.keys()].filter((state) => before[state] !== full.port);
  for (const state of others)
    assert.equal(moved[state], before[state], "the other services keep their states");
}
