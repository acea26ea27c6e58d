// The services that the clients ask.
import { spawn } from "node:child_process";
import { Agent, get, request } from "node:http";
import { createInterface } from "node:readline";
import { interrupted, root } from "./run-command.mjs";

const START_TIMEOUT_MS = 300_000; // chosen: a start takes about a second; on a machine far too busy, a minute
const HOUR_MS = 3_600_000; // chosen: longer than all programs take

/**
 * Starts a service on a free port and waits until it is ready. Of all settings only the given ones count, whatever the
 * caller's environment holds.
 *
 * @returns its URL, and a function that ends it
 */
export async function startService(settings = {}) {
  const process = spawnService(settings);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const stop = async () => {
    agent.destroy();
    await end(process);
  };
  try {
    return { url: await readyUrl(process, agent), agent, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * A service that takes one connection and has it already, for a request whose body never comes: every other gets 503.
 *
 * @returns its URL, and a function that ends it
 */
export async function startFullService() {
  const settings = { DECISION_MAX_CONNECTIONS: "1", DECISION_DEADLINE_MS: String(HOUR_MS) };
  const { url, agent, stop } = await startService(settings);
  const headers = { "content-type": "application/json", "content-length": 2 };
  let held;
  // again when the service has given it up: a compiler may take longer than the service waits for a body
  const hold = () => {
    held = request(`${url}/v1/rank`, { agent, method: "POST", headers });
    held.on("response", (response) => response.resume());
    held.on("error", () => {}); // when the service ends
    held.once("close", () => hold());
    held.flushHeaders();
  };
  hold();
  return {
    url,
    stop: async () => {
      held.removeAllListeners("close").destroy();
      await stop();
    },
  };
}

function spawnService(settings) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("DECISION_"));
  return spawn(process.execPath, ["bin/decision.js", "serve", "--port", "0"], {
    cwd: root,
    env: { ...Object.fromEntries(inherited), ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Where a service listens. It says so once it is ready. */
async function readyUrl(service, agent) {
  const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(START_TIMEOUT_MS)]);
  for await (const line of createInterface({ input: service.stdout, signal })) {
    const url = /http:\/\/\S+/.exec(line)?.[0];
    if (url !== undefined && (await statusOf(`${url}/ready`, agent)) === 200) return url;
  }
  throw new Error("a service did not become ready");
}

/** The status of a GET over the one connection of an agent. */
function statusOf(url, agent) {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode));
    }).once("error", reject);
  });
}

async function end(service) {
  if (service.exitCode !== null || service.signalCode !== null) return;
  service.kill();
  await new Promise((resolve) => service.once("exit", resolve));
}
