import { Worker } from "node:worker_threads";

/** Time between checks. Chosen: a check reads one number. */
const WATCH_MS = 500;

/**
 * Ends this process when its parent has died. For a thread that computes forwards: should the main thread hang in a run, this
 * one still checks.
 */
export function watchParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
  }, WATCH_MS).unref();
}

/**
 * Ends this process when its parent has died, even if the main thread hangs in a run and receives no events. The check
 * runs in a thread of its own, which takes 9 MB and starts in 30 ms (measured). Not needed if other threads check.
 */
export function dieWithParent(): void {
  const watch = `setInterval(() => {
    if (process.ppid !== ${process.ppid}) process.kill(process.pid, "SIGKILL");
  }, ${WATCH_MS})`;
  const thread = new Worker(watch, {
    eval: true,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
  });
  // if the thread fails, a main thread that does not hang still gets "disconnect"
  thread.on("error", () => {}).unref();
}
