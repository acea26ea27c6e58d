// `decision serve` in a process of its own, and what the system tells of it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { serviceMemory } from "../../../dist/bench/http/resident-memory.js";
import { DIE_WITH_PARENT } from "../../../dist/bench/http/server-process.js";

const MIB = 2 ** 20;
const CLOCK_TICKS = 100; // a second, on every Linux that Node runs on

/**
 * @param root folder of the package
 * @param control name of a fault to plant, see controls.mjs
 * @param processors on which it may run, as `taskset` lists them; undefined: on all
 */
export async function startService(root, flags, control, env = {}, processors = undefined) {
  const imports = [`data:text/javascript,${encodeURIComponent(DIE_WITH_PARENT)}`];
  if (control !== undefined) {
    const query = new URLSearchParams({ dist: path.join(root, "dist"), fault: control });
    imports.push(`${pathToFileURL(path.join(import.meta.dirname, "controls.mjs"))}?${query}`);
  }
  const [command, ...before] = [
    ...(processors === undefined ? [] : ["taskset", "--cpu-list", processors]),
    process.execPath,
  ];
  const child = spawn(
    command,
    [
      ...before,
      ...imports.flatMap((module) => ["--import", module]),
      path.join(root, "bin/decision.js"),
      "serve",
      "--port",
      "0",
      ...flags,
    ],
    { stdio: ["ignore", "pipe", "inherit", "ipc"], env: { ...process.env, ...env } },
  );
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\S+/.exec(line)?.[0];
    if (url !== undefined) return new Service(child, Number(new URL(url).port));
  }
  throw new Error("the service ended before it was ready");
}

class Service {
  #child;

  constructor(child, port) {
    this.#child = child;
    this.port = port;
    this.pid = child.pid;
  }

  async health() {
    return (await fetch(`http://127.0.0.1:${this.port}/health`)).json();
  }

  async post(body, signal) {
    const headers = { "content-type": "application/json" };
    const url = `http://127.0.0.1:${this.port}/v1/systemone`;
    return fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal });
  }

  /** Resident MiB of the serving process; undefined on a system that does not tell. */
  get residentMib() {
    return serviceMemory(this.#child.pid)?.service / MIB;
  }

  /** Resident MiB of both processes; undefined on a system that does not tell. */
  get bothResidentMib() {
    const memory = serviceMemory(this.#child.pid);
    return memory && (memory.service + memory.inference) / MIB;
  }

  /** Seconds that the serving process (not the inference process) has spent on processors; Linux. */
  get cpuSeconds() {
    return statOf(this.#child.pid).cpuSeconds;
  }

  /** The same of both processes. */
  get bothCpuSeconds() {
    const { own, below } = cpuSecondsOf(this.#child.pid);
    return own + below;
  }

  async end() {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 10_000);
    const [code] = await ended;
    clearTimeout(timer);
    return code;
  }
}

/** Processor time of a process, and of the processes that it has started, but for some of them; Linux. */
export function cpuSecondsOf(pid, besides = []) {
  const below = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && !besides.includes(Number(name)))
    .map((name) => statOf(name))
    .filter((stat) => stat?.parent === pid);
  return {
    own: statOf(pid).cpuSeconds,
    below: below.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
  };
}

/** Of a process, by Linux; undefined for one that has ended. */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // what follows the name, which may have spaces: state, parent, ...
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
    return { pid: Number(pid), parent: Number(fields[1]), cpuSeconds };
  } catch {
    return undefined;
  }
}
