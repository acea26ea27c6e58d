import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { DIE_WITH_PARENT } from "../../bench/http/server-process.ts";
import { packageRoot } from "../../src/package-root.ts";

export interface Served {
  readonly port: number;
  readonly pid: number;
  /** The text written to stderr so far. */
  log(): string;
  stop(): Promise<void>;
}

/**
 * Starts the compiled service on a free loopback port. It ends with this process. @param plant file of a planted fault,
 * loaded first
 */
export async function serve(
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
  plant?: string,
): Promise<Served> {
  const cwd = await mkdtemp(path.join(tmpdir(), "hostile-"));
  const planted =
    plant === undefined
      ? {}
      : { NODE_OPTIONS: `--require ${fileURLToPath(new URL(plant, import.meta.url))}` };
  const child = spawn(
    process.execPath,
    [
      "--import",
      `data:text/javascript,${encodeURIComponent(DIE_WITH_PARENT)}`,
      path.join(packageRoot, "bin/decision.js"),
      "serve",
      "--port",
      "0",
      ...flags,
    ],
    { cwd, env: { ...process.env, ...env, ...planted }, stdio: ["ignore", "pipe", "pipe", "ipc"] },
  );
  let log = "";
  child.stderr?.on("data", (data) => {
    log = (log + data).slice(-100_000);
  });
  const port = await portOf(child);
  if (port === undefined) throw new Error(`the service ended before it was ready: ${log}`);
  return {
    port,
    pid: child.pid ?? 0,
    log: () => log,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, "exit");
        child.kill("SIGTERM");
        const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
        await ended;
        clearTimeout(timer);
      }
      await rm(cwd, { recursive: true, force: true });
    },
  };
}

async function portOf({ stdout }: ChildProcess): Promise<number | undefined> {
  if (!stdout) return undefined;
  for await (const line of createInterface({ input: stdout })) {
    const port = /http:\/\/\S+:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  return undefined;
}
