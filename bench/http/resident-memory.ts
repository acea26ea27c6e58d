import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Resident memory of a service's two processes, in bytes; undefined if unknown. */
export interface ServiceMemory {
  readonly service: number;
  /** All its child processes. */
  readonly inference: number;
}

/** @param pid process id of the service */
export function serviceMemory(pid: number): ServiceMemory | undefined {
  const processes = listProcesses();
  const own = processes.find((process) => process.pid === pid);
  if (!own) return undefined;
  const below = processes.filter((process) => process.parent === pid);
  return { service: own.bytes, inference: below.reduce((sum, { bytes }) => sum + bytes, 0) };
}

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly bytes: number;
}

/** All visible processes; empty if the system shows none. */
export function listProcesses(): readonly ProcessRow[] {
  try {
    return parseProcesses(execFileSync("ps", ["-A", "-o", "pid=,ppid=,rss="], { encoding: "utf8" }));
  } catch {
    return listProc(); // a small image without `ps`
  }
}

/** @param text lines of pid, parent's pid, KiB */
export function parseProcesses(text: string): readonly ProcessRow[] {
  return text.split("\n").flatMap((line) => {
    const [pid, parent, kib] = line.trim().split(/\s+/).map(Number);
    if (!pid || parent === undefined || kib === undefined) return [];
    return [{ pid, parent, bytes: kib * 1024 }];
  });
}

function listProc(): readonly ProcessRow[] {
  try {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readProc(Number(name)) ?? []) : []));
  } catch {
    return []; // another system
  }
}

function readProc(pid: number): ProcessRow | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
    return { pid, parent: field("PPid"), bytes: field("VmRSS") * 1024 };
  } catch {
    return undefined; // it has ended
  }
}
