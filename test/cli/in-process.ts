import path from "node:path";
import { Readable } from "node:stream";
import { Config } from "@oclif/core";
import { packageRoot } from "../support/package-root.ts";
import type { Ended } from "./decision.ts";

export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** The working folder. */
  readonly cwd?: string;
}

/**
 * Runs a command in the test's process, because starting `decision` takes half a second. Signals and process exits
 * cannot be tested this way. Only one at a time, since it uses the process's streams, environment and working folder.
 */
export async function inProcess(
  args: readonly string[],
  { env = {}, input = "", cwd = packageRoot }: Surroundings = {},
): Promise<Ended> {
  const config = await Config.load(path.join(packageRoot, "package.json"));
  const length = config.findCommand(args.slice(0, 2).join(":")) ? 2 : 1; // with its topic
  const argv = args.slice(length);
  const Command = await config.findCommand(args.slice(0, length).join(":"), { must: true }).load();
  const before = { env: process.env, cwd: process.cwd(), exitCode: process.exitCode };
  const stdin = Object.getOwnPropertyDescriptor(process, "stdin");
  const { DECISION_API_KEY: _, DECISION_URL: __, ...own } = process.env;
  const stdout = captured(process.stdout);
  const stderr = captured(process.stderr);
  process.exitCode = undefined;
  process.env = { ...own, ...env };
  process.chdir(cwd);
  Object.defineProperty(process, "stdin", {
    value: Readable.from([Buffer.from(input)].filter(({ length }) => length > 0)),
    configurable: true,
  });
  try {
    const status = await Command.run(argv, config).then(() => Number(process.exitCode ?? 0), exitCodeOf);
    return { status, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    stdout.restore();
    stderr.restore();
    if (stdin !== undefined) Object.defineProperty(process, "stdin", stdin);
    process.env = before.env;
    process.chdir(before.cwd);
    process.exitCode = before.exitCode;
  }
}

/** @throws any error that is not a command's exit */
function exitCodeOf(error: unknown): number {
  const exit = (error as { oclif?: { exit?: unknown } }).oclif?.exit;
  if (typeof exit === "number") return exit;
  throw error;
}

/** Captures texts. Bytes pass through, because the test runner's reports are bytes. */
function captured(stream: NodeJS.WriteStream) {
  const write = stream.write;
  let text = "";
  stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
    if (typeof chunk !== "string") return Reflect.apply(write, stream, [chunk, ...rest]);
    text += chunk;
    const done = rest.at(-1);
    if (typeof done === "function") done();
    return true;
  }) as typeof write;
  return {
    text: () => text,
    restore() {
      stream.write = write;
    },
  };
}
