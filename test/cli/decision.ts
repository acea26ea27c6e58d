import { spawnSync } from "node:child_process";
import path from "node:path";
import { packageRoot } from "../support/package-root.ts";

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the compiled `decision` to its end. */
export function decision(
  args: readonly string[],
  options: { env?: Record<string, string>; input?: string; cwd?: string } = {},
): Ended {
  const { DECISION_API_KEY: _, ...env } = process.env;
  return spawnSync(process.execPath, [path.join(packageRoot, "bin/decision.js"), ...args], {
    encoding: "utf8",
    input: options.input ?? "",
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    env: { ...env, ...options.env },
  });
}
