import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

/** Ids of the processes that a process has started and that still live. */
export function childrenOf(pid: number): number[] {
  const said = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  return said.split("\n").flatMap((line) => {
    const [child, parent] = line.trim().split(/\s+/).map(Number);
    return child !== undefined && parent === pid ? [child] : [];
  });
}

/** The inference processes that a process has started and that still live. */
export function inferenceProcessesOf(pid: number): number[] {
  return childrenOf(pid).filter((child) =>
    /backends\/onnx\/process|-m decision_native/.test(commandOf(child)),
  );
}

/** The first of them. @throws Error if there is none */
export function inferenceProcessOf(pid: number): number {
  const [found] = inferenceProcessesOf(pid);
  if (found === undefined) throw new Error("there is no inference process");
  return found;
}

/** Whether a process exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  return /^[^Z]/.test(ps("stat=", pid));
}

/** Waits for a condition, with a limit long enough for slow machines. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  const end = Date.now() + 60_000;
  while (!isSo()) {
    assert.ok(Date.now() < end, `not in time: ${what}`);
    await sleep(10);
  }
}

const commandOf = (pid: number) => ps("args=", pid);

/** Nothing where the process is gone. */
function ps(column: string, pid: number): string {
  try {
    return execFileSync("ps", ["-o", column, "-p", String(pid)], { encoding: "utf8" }).trim();
  } catch {
    return "";
  }
}
