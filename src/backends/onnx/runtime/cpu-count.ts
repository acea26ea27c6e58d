import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Where Linux shows its control groups, and the group of this process. */
const GROUPS = "/sys/fs/cgroup";
const OWN_GROUP = "/proc/self/cgroup";

/** Number of processors that this process may use: its affinity, limited by the quotas of its control groups. */
export function cpuCount(): number {
  const quotas = groupsOf(read(OWN_GROUP)).map((group) => quotaOf(read(`${GROUPS}${group}/cpu.max`)));
  return Math.max(1, Math.min(availableParallelism(), ...quotas));
}

/**
 * The control group of a process and those around it. A container sees its own group as the outermost; a unit of systemd with a
 * quota is in an inner one.
 *
 * @param text content of /proc/self/cgroup; the line of version 2 begins with `0::`
 * @returns paths, "" for the outermost
 */
export function groupsOf(text: string): readonly string[] {
  const own = /^0::(\/.*)$/m.exec(text)?.[1] ?? "";
  const names = own.split("/").filter((name) => name !== "" && name !== "..");
  return ["", ...names.map((_, at) => `/${names.slice(0, at + 1).join("/")}`)];
}

/** @param text content of cpu.max: "<quota> <period>" in microseconds, or "max" @returns processors, rounded up; infinity without a quota */
export function quotaOf(text: string): number {
  const [quota, period] = text.trim().split(/\s+/).map(Number);
  if (!quota || !period) return Number.POSITIVE_INFINITY;
  return Math.ceil(quota / period);
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // another system, an older kernel, or a group without this limit
  }
}
