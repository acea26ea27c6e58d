// `decision serve` of this compiled checkout, for the measurements. Memory and processor time: Linux only.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { listProcesses, residentOnce, serviceMemory } from "../dist/bench/http/resident-memory.js";
import { DIE_WITH_PARENT } from "../dist/bench/http/server-process.js";

const MIB = 2 ** 20;
const CLOCK_TICKS = 100; // clock ticks per second, the same on every Linux that Node supports

/**
 * Starts a service on a free port, which ends with this process. Resolves when it is ready.
 *
 * @param flags of `decision serve`
 * @param wrapper a command that starts it, such as `taskset` with its arguments
 * @param plants files that both processes load first
 */
export async function startService(flags = [], { env = {}, wrapper = [], plants = [] } = {}) {
  const [command, ...args] = [
    ...wrapper,
    process.execPath,
    ...["--import", `data:text/javascript,${encodeURIComponent(DIE_WITH_PARENT)}`],
    path.join(import.meta.dirname, "../bin/decision.js"),
    ...["serve", "--port", "0", ...flags],
  ];
  const loaded = plants.map((file) => `--require ${JSON.stringify(path.join(import.meta.dirname, file))}`);
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: { ...process.env, NODE_OPTIONS: loaded.join(" "), ...env },
  });
  const log = [];
  child.stderr.on("data", (data) => {
    log.push(data);
    process.stderr.write(data);
  });
  const exited = once(child, "exit").then(([code]) => code);
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exited.then(() => Promise.reject(new Error("the service ended before it was ready"))),
  ]);
  return new Service(child, exited, log, Number(new URL(/http:\S+/.exec(line)[0]).port));
}

class Service {
  /** @param exited resolves with the exit code @param log what it has written to stderr so far */
  constructor(child, exited, log, port) {
    Object.assign(this, { child, exited, log, port, pid: child.pid });
  }

  async health() {
    return (await fetch(`http://127.0.0.1:${this.port}/health`)).json();
  }

  /** Resident memory of each process in MiB; NaN if unknown. */
  memory() {
    const { service = Number.NaN, inference = Number.NaN } = serviceMemory(this.pid) ?? {};
    return { service: service / MIB, inference: inference / MIB };
  }

  /** Resident memory of both processes in MiB, with shared pages counted once; NaN if unknown. Slower than `memory`. */
  memoryOnce() {
    return (residentOnce(this.pid) ?? Number.NaN) / MIB;
  }

  /** Processor seconds of both processes. */
  cpuSeconds() {
    const each = [this.pid, ...this.inferencePids()].map(cpuSecondsOf);
    return each.reduce((sum, seconds) => sum + seconds, 0);
  }

  /** Ids of the service's child processes. */
  inferencePids() {
    return listProcesses().flatMap(({ pid, parent }) => (parent === this.pid ? [pid] : []));
  }

  /** @returns the exit code */
  async end() {
    this.child.kill("SIGTERM");
    const timer = setTimeout(() => this.child.kill("SIGKILL"), 10_000);
    const code = await this.exited;
    clearTimeout(timer);
    return code;
  }
}

/** @returns 0 if the process has ended */
function cpuSecondsOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // the fields after the name, which may contain spaces
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
  } catch {
    return 0;
  }
}
