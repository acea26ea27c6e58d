import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Resident memory of a service's two processes, in bytes; undefined if unknown. */
export interface ServiceMemory {
  readonly service: number;
  /** All child processes of the service. */
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

/**
 * Resident memory of a service and its child processes in bytes. Pages of files that several of them map (the program,
 * libraries, weights) count once. Unlike `Pss`, it does not depend on other processes that map the same files. Linux
 * only.
 */
export function residentOnce(pid: number): number | undefined {
  const pids = listProcesses().flatMap((row) => (row.pid === pid || row.parent === pid ? [row.pid] : []));
  try {
    return countOnce(pids.map((each) => readFileSync(`/proc/${each}/smaps`, "utf8")));
  } catch {
    return undefined; // another system, or a process has ended
  }
}

/** @param maps content of `/proc/PID/smaps` for each process; sizes in it are KiB @returns bytes */
export function countOnce(maps: readonly string[]): number {
  const files = new Map<string, number>();
  let kib = 0;
  for (const map of maps) {
    for (const part of map.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)) {
      const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(part)?.[1] ?? 0);
      const [, , offset, device, inode] = part.split(/\s+/, 5);
      const own = field("Anonymous");
      const place = `${device} ${inode} ${offset}`;
      kib += own;
      files.set(place, Math.max(files.get(place) ?? 0, field("Rss") - own));
    }
  }
  for (const shared of files.values()) kib += shared;
  return kib * 1024;
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
