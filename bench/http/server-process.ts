import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { ServiceError } from "../../src/errors.ts";
import { OPTION_TABLE, type OptionRow, type ServiceOptions } from "../../src/options/table.ts";
import { packageRoot } from "../../src/package-root.ts";

/** `decision serve` in a child process, which ends with this process. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** Time from process start to the line with its address, when the model is loaded. */
  readonly readyMs: number;
  close(): Promise<void>;
}

/** Ends the service if the bench has died. The channel itself keeps nothing alive. */
export const DIE_WITH_PARENT =
  'process.on("disconnect", () => process.kill(process.pid, "SIGTERM")); process.channel?.unref();';
/** Chosen: no request is in progress when the bench stops a service. */
const LONGEST_SHUTDOWN_MS = 5_000;

/** @throws ServiceError INTERNAL if it ends before it is ready; the reason is on stderr */
export async function startServer(options: ServiceOptions): Promise<ServerProcess> {
  const startedAt = performance.now();
  const child = fork(path.join(packageRoot, "bin/decision.js"), ["serve", ...serveFlags(options)], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    execArgv: ["--import", `data:text/javascript,${encodeURIComponent(DIE_WITH_PARENT)}`],
    env: withoutOptions(process.env),
  });
  const url = await readUrl(child);
  const readyMs = performance.now() - startedAt;
  if (url === undefined) throw new ServiceError("INTERNAL", "the service ended before it was ready.");
  return { url, pid: child.pid ?? 0, readyMs, close: () => end(child) };
}

async function readUrl(child: ChildProcess): Promise<string | undefined> {
  if (!child.stdout) return undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/\S+/.exec(line)?.[0];
    if (url) return url;
  }
  return undefined;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_SHUTDOWN_MS);
  await exited;
  clearTimeout(timer);
}

/** The service's options as flags, which override the environment, with a free port. */
export function serveFlags(options: ServiceOptions): string[] {
  const given: ServiceOptions = { ...options, host: "127.0.0.1", port: 0 };
  const values = new Map<string, unknown>(Object.entries(given));
  return Object.entries(OPTION_TABLE).flatMap(([name, row]: [string, OptionRow]) => {
    const value = values.get(name);
    const flag = `--${row.flag}`;
    if (row.kind === "switch") return value === true ? [flag] : [];
    if (row.kind === "list") return Array.isArray(value) ? value.flatMap((item) => [flag, String(item)]) : [];
    return value === "" || value === undefined ? [] : [flag, String(value)];
  });
}

function withoutOptions(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("DECISION_")));
}
