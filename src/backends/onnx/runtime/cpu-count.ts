import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** The Linux file with a container's CPU quota: "<quota> <period>" in microseconds, or "max". */
const CGROUP_QUOTA = "/sys/fs/cgroup/cpu.max";

/** Number of processors that this process may use: its affinity, limited by the quota of its container. */
export function cpuCount(): number {
  return Math.max(1, Math.min(availableParallelism(), quotaOf(readQuota())));
}

/** @returns processors, rounded up; infinity without a quota */
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
