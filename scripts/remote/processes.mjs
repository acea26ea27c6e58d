import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const ROOT = path.join(import.meta.dirname, "../..");
/** Prefix of this run's names in /dev/shm. */
export const SHARED_MEMORY = `decision_check_${process.pid}_`;
/** Time limit of a start. Chosen: long enough for a busy machine. */
export const START_MS = 120_000;

export const scratch = fs.mkdtempSync(path.join(tmpdir(), "check-remote-"));
/** The processes of this run, each the leader of a process group. */
const started = new Set();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
process.on("exit", () => {
  for (const child of started) kill(child);
  fs.rmSync(scratch, { recursive: true, force: true });
  for (const name of fs.existsSync("/dev/shm") ? fs.readdirSync("/dev/shm") : [])
    if (name.startsWith(SHARED_MEMORY)) fs.rmSync(path.join("/dev/shm", name), { force: true });
});

/** This process's environment without settings of the service. */
export function environment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("DECISION_")));
}

export async function startService(flags, env = {}) {
  const port = await freePort();
  const log = path.join(scratch, `service-${port}.log`);
  const args = [path.join(ROOT, "bin/decision.js"), "serve", "--port", String(port), ...flags];
  const child = start({ program: process.execPath, args, env, log });
  const url = `http://127.0.0.1:${port}`;
  await until("a service is ready", async () => (await statusOf(`${url}/ready`)) === 200, child);
  return { url, child };
}

export function start({ program, args, env, log }) {
  const file = fs.openSync(log, "a");
  const options = {
    cwd: scratch,
    env: { ...environment(), ...env },
    stdio: ["ignore", file, file],
    detached: true,
  };
  const child = Object.assign(spawn(program, args, options), { log });
  fs.closeSync(file);
  started.add(child);
  return child;
}

/** Kills a process and its descendants. */
function kill({ pid }) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

export async function end(child) {
  const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
  kill(child);
  await ended;
  started.delete(child);
}

export const statusOf = (url) =>
  fetch(url).then(
    async (response) => {
      await response.text();
      return response.status;
    },
    () => 0,
  );

export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

/** Waits for a condition. @throws if it is not true in time, or the watched process ends first */
export async function until(what, isSo, watched) {
  const began = performance.now();
  while (!(await isSo())) {
    const hasEnded = watched.exitCode !== null || watched.signalCode !== null;
    if (hasEnded || performance.now() - began > START_MS)
      throw new Error(`${hasEnded ? "the process ended before" : "not in time"}: ${what}\n${logOf(watched)}`);
    await sleep(100);
  }
}

const logOf = ({ log }) => fs.readFileSync(log, "utf8").split("\n").slice(-20).join("\n");
