// `decision serve` of a compiled checkout, on a free port, for the measurements.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { DIE_WITH_PARENT } from "../dist/bench/http/server-process.js";

/**
 * Starts a service that ends with this process. Resolves when it is ready.
 *
 * @param flags of `decision serve`
 * @param root folder of the package
 * @param imports modules that are loaded before it
 * @param wrapper a command that starts it, such as `taskset` with its arguments
 */
export async function spawnService(
  flags,
  { root = path.join(import.meta.dirname, ".."), imports = [], env = {}, wrapper = [] } = {},
) {
  const modules = [`data:text/javascript,${encodeURIComponent(DIE_WITH_PARENT)}`, ...imports];
  const [command, ...args] = [
    ...wrapper,
    process.execPath,
    ...modules.flatMap((module) => ["--import", module]),
    path.join(root, "bin/decision.js"),
    ...["serve", "--port", "0", ...flags],
  ];
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    env: { ...process.env, ...env },
  });
  const exited = once(child, "exit");
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exited.then(() => Promise.reject(new Error("the service ended before it was ready"))),
  ]);
  return { child, exited, port: Number(new URL(/http:\S+/.exec(line)[0]).port) };
}
