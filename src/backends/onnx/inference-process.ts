import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ServiceError } from "../../errors.ts";
import type { Clock } from "../../inference/ports.ts";
import type { Precision } from "../../models/graph.ts";
import type { ModelPackage } from "../../models/package.ts";
import type { FromProcess, ToProcess } from "./messages.ts";

export interface ProcessOptions {
  /** Its files are checked against this manifest each time a process loads them. */
  readonly modelPackage: ModelPackage;
  readonly precision: Precision;
  /** Threads of one run. */
  readonly threads: number;
  readonly stateCacheBytes: number;
  /** A process that takes longer to load the model is taken for hung. */
  readonly loadMs: number;
  readonly clock: Clock;
}

/** How a process ended: by itself or by a signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The `.ts` file in a checkout that runs from source, the `.js` file once compiled. */
const entry = fileURLToPath(new URL(`./process${import.meta.url.slice(-3)}`, import.meta.url));
/** Not the flags of this process: with `--eval` among them, the caller's program would run again in the new one. */
const execArgv = entry.endsWith(".ts") ? ["--import", import.meta.resolve("tsx")] : [];

/** One inference process, from its start to its end. */
export class InferenceProcess {
  /** Resolves when it holds the model. @throws ServiceError INVALID_MODEL | BACKEND_FAILED */
  readonly loaded: Promise<void>;
  readonly #child: ChildProcess;

  constructor(
    options: ProcessOptions,
    on: {
      readonly answer: (message: Extract<FromProcess, { id: number }>) => void;
      readonly exit: (exit: Exit) => void;
    },
  ) {
    const child = fork(entry, [], {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv,
    });
    this.#child = child;
    let cancelTimer = () => {};
    this.loaded = new Promise<void>((resolve, reject) => {
      cancelTimer = options.clock.after(options.loadMs, () => {
        reject(failure(`The inference process did not load the model within ${options.loadMs / 1000} s.`));
      });
      child.on("message", (message: FromProcess) => {
        if (message.type === "loaded") resolve();
        else if (message.type === "refused") reject(new ServiceError("INVALID_MODEL", message.message));
        else on.answer(message);
      });
      child.on("error", (cause) => {
        reject(failure("The inference process could not be started.", cause));
      });
      child.on("exit", (code, signal) => {
        const how = signal ?? `exit code ${code}`;
        reject(failure(`The inference process ended while it loaded the model (${how}).`));
        on.exit({ code, signal });
      });
    });
    this.loaded.then(cancelTimer, cancelTimer);
    const { modelPackage, precision, threads, stateCacheBytes } = options;
    // without file descriptors there is no channel: "error" comes next
    if (child.connected) this.send({ type: "load", modelPackage, precision, threads, stateCacheBytes });
  }

  get isConnected(): boolean {
    return this.#child.connected;
  }

  /** @param done told of a message that could not be sent */
  send(message: ToProcess, done: (error: Error | null) => void = () => {}): void {
    this.#child.send(message, done);
  }

  /** At once, whatever it is doing. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Kills it and resolves when it is gone. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.kill();
    await exited;
  }
}

export function failure(message: string, cause?: unknown): ServiceError {
  return new ServiceError("BACKEND_FAILED", message, { cause });
}
