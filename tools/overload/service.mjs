// `decision serve` in a child process, with its resource usage.
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { serviceMemory } from "../../dist/bench/http/resident-memory.js";
import { spawnService } from "../service-process.mjs";

const MIB = 2 ** 20;
const CLOCK_TICKS = 100; // clock ticks per second, the same on every Linux that Node supports

/**
 * @param root folder of the package
 * @param control name of a fault to plant, see controls.mjs
 * @param processors allowed processors as a `taskset` list; undefined: all
 */
export async function startService(root, flags, control, env = {}, processors = undefined) {
  const query = new URLSearchParams({ dist: path.join(root, "dist"), fault: control ?? "" });
  const { child, port } = await spawnService(flags, {
    root,
    env,
    imports:
      control === undefined
        ? []
        : [`${pathToFileURL(path.join(import.meta.dirname, "controls.mjs"))}?${query}`],
    wrapper: processors === undefined ? [] : ["taskset", "--cpu-list", processors],
  });
  return new Service(child, port);
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

  /** Resident memory of the service process in MiB; undefined if the system does not report it. */
  get residentMib() {
    return serviceMemory(this.#child.pid)?.service / MIB;
  }

  /** Resident memory of both processes in MiB; undefined if the system does not report it. */
  get bothResidentMib() {
    const memory = serviceMemory(this.#child.pid);
    return memory && (memory.service + memory.inference) / MIB;
  }

  /** Processor seconds of the service process, without the inference process. Linux only. */
  get cpuSeconds() {
    return statOf(this.#child.pid).cpuSeconds;
  }

  /** Processor seconds of both processes. Linux only. */
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

/** Processor seconds of a process and its child processes. @param besides excluded children. Linux only. */
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

/** Fields of /proc/PID/stat; undefined if the process has ended. */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // the fields after the name, which may contain spaces: state, parent, ...
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
    return { pid: Number(pid), parent: Number(fields[1]), cpuSeconds };
  } catch {
    return undefined;
  }
}
