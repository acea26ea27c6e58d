// Runs the commands of the checks.
import { execFile } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** The checkout. */
export const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

/** Ends what runs, on the first signal. */
export const interrupted = new AbortController();

/** Runs a program in a folder. @returns its stdout @throws what it printed, if it does not end with 0 */
export async function run(command, args, { folder, env = process.env }) {
  try {
    const maxBuffer = 64 * 1024 * 1024; // chosen: more than any compiler prints
    const { stdout } = await execute(command, args, {
      cwd: folder,
      env,
      maxBuffer,
      signal: interrupted.signal,
    });
    return stdout;
  } catch (cause) {
    throw new Error(`${cause.message}\n${cause.stdout}`, { cause }); // the message has what went to stderr
  }
}
