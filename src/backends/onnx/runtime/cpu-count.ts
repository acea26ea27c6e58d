import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Where Linux says how much of the processors a container may use: "<quota> <period>" in microseconds, or "max". */
const CGROUP_QUOTA = "/sys/fs/cgroup/cpu.max";

/** Processors that this process may keep busy: those it may run on, or less by the quota of its container. */
export function cpuCount(): number {
  return Math.max(1, Math.min(availableParallelism(), quotaOf(readQuota())));
}

/** @returns processors, rounded up; infinity where there is no quota */
export function quotaOf(text: string): number {
  const [quota, period] = text.trim().split(/\s+/).map(Number);
  if (!quota || !period) return Number.POSITIVE_INFINITY;
  return Math.ceil(quota / period);
}

function readQuota(): string {
  try {
    return readFileSync(CGROUP_QUOTA, "utf8");
  } catch {
    return "max"; // another system, or an older kernel
  }
}
