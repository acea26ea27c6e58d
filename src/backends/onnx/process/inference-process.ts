import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import os from "node:os";
import { fileURLToPath } from "node:url";
import { ServiceError } from "../../../errors.ts";
import type { Clock } from "../../../inference/ports.ts";
import type { Precision } from "../../../models/graph/graph.ts";
import type { ModelPackage } from "../../../models/package/package.ts";
import type { FromProcess, ToProcess } from "./messages.ts";
import { processEnvironment } from "./process-environment.ts";

export interface LoadOptions {
  /** Its files are checked against this manifest each time a process loads them. */
  readonly modelPackage: ModelPackage;
  /** Threads that may compute at a time. */
  readonly threads: number;
  readonly stateCacheBytes: number;
  /** Whether vectors are given beside the scores; false unless given. */
  readonly hasVectors?: boolean;
  /** A process that takes longer to load the model counts as hung. */
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
/**
 * Not the flags of this process: with `--eval` among them, the caller's program would run again in the new one.
 *
 * Its garbage is a few large arrays. Threads that collect it beside the kernels' take their processors from them: without, three
 * questions of four candidates on 160 tokens take 0.9 of the time, one more question on 1,000 tokens too (measured, 2 processors).
 * There is little of it besides these arrays, so that a young generation of 1 MiB is enough.
 */
const execArgv = [
  "--single-threaded-gc",
  "--max-semi-space-size=1",
  ...(entry.endsWith(".ts") ? ["--import", import.meta.resolve("tsx")] : []),
];

/** Listener for the events of a process. */
export interface ProcessListener {
  readonly answer: (message: Extract<FromProcess, { id: number }>) => void;
  readonly pong: (message: Extract<FromProcess, { type: "pong" }>) => void;
  readonly exit: (exit: Exit) => void;
}

/** One inference process, from start to end. It starts before the model is known, to save time. */
export class InferenceProcess {
  readonly #child: ChildProcess;
  readonly #loaded: Promise<void>;
  #rejectLoad: (error: ServiceError) => void = () => {};
  #listener: ProcessListener = { answer: () => {}, pong: () => {}, exit: () => {} };

  constructor(precision: Precision) {
    this.#child = fork(entry, [precision], {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv,
      env: processEnvironment(process.env),
    });
    yieldTo(process.pid, this.#child.pid);
    this.#loaded = this.#listen(this.#child);
    this.#loaded.catch(() => {}); // it may end before a model is to be loaded: `load` tells
  }

  /** Resolves when it holds the model. To be called once. @throws ServiceError INVALID_MODEL | BACKEND_FAILED */
  async load(
    { modelPackage, threads, stateCacheBytes, hasVectors = false, loadMs, clock }: LoadOptions,
    listener: ProcessListener,
  ): Promise<void> {
    this.#listener = listener;
    const cancelTimer = clock.after(loadMs, () => {
      this.#rejectLoad(failure(`The inference process did not load the model within ${loadMs / 1000} s.`));
    });
    // without file descriptors there is no channel: "error" has come or comes next
    if (this.isConnected) this.send({ type: "load", modelPackage, threads, stateCacheBytes, hasVectors });
    await this.#loaded.finally(cancelTimer);
  }

  #listen(child: ChildProcess): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#rejectLoad = reject;
      child.on("message", (message: FromProcess) => {
        if (message.type === "loaded") resolve();
        else if (message.type === "refused") reject(new ServiceError("INVALID_MODEL", message.message));
        else if (message.type === "pong") this.#listener.pong(message);
        else this.#listener.answer(message);
      });
      child.on("error", (cause) => {
        reject(failure("The inference process could not be started.", cause));
      });
      child.on("exit", (code, signal) => {
        const how = signal ?? `exit code ${code}`;
        reject(failure(`The inference process ended while loading the model (${how}).`));
        this.#listener.exit({ code, signal });
      });
    });
  }

  /** Not once it has been killed, or once the connection is gone: both show before the exit does. */
  get isConnected(): boolean {
    return this.#child.connected && !this.#child.killed;
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
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return; // never there, or gone
    const exited = once(this.#child, "exit");
    this.kill();
    await exited;
  }
}

/** Chosen: of a processor that both want, the service gets some three quarters. */
const NICER_BY = 5;

/**
 * Gives a new process a lower priority than its service's, which answers whoever is refused meanwhile. Before the process has any
 * threads: on Linux the others inherit the first one's.
 */
function yieldTo(service: number, pid: number | undefined): void {
  if (pid === undefined) return; // it could not be started
  try {
    os.setPriority(pid, Math.min(os.getPriority(service) + NICER_BY, os.constants.priority.PRIORITY_LOW));
  } catch {
    // it has ended already, or the system does not allow it: it computes at the same priority
  }
}

export function failure(message: string, cause?: unknown): ServiceError {
  return new ServiceError("BACKEND_FAILED", message, { cause });
}
