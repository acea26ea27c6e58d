import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ServiceError } from "../../errors.ts";
import type { Backend, ForestScores, TokenTree } from "../../inference/ports.ts";
import type { Precision } from "../../models/graph.ts";
import type { ModelPackage } from "../../models/package.ts";
import type { FromProcess, ToProcess } from "./messages.ts";

export interface ChildBackendOptions {
  /** Its files are checked against this manifest each time a process loads them. */
  readonly modelPackage: ModelPackage;
  readonly precision: Precision;
  /** Threads of one run. */
  readonly threads: number;
  readonly stateCacheBytes: number;
  /** A run that takes longer is taken for hung, and its process is killed. */
  readonly hangMs: number;
  readonly log: (event: string, details: Record<string, unknown>) => void;
}

interface Pending {
  readonly resolve: (scores: ForestScores) => void;
  readonly reject: (error: ServiceError) => void;
  readonly timer: NodeJS.Timeout;
}

/** Waits between restarts: doubled each time up to the longest, back to none after a success. */
const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 10_000;

/** The `.ts` file in a checkout that runs from source, the `.js` file once compiled. */
const entry = fileURLToPath(new URL(`./process${import.meta.url.slice(-3)}`, import.meta.url));
/** Not the flags of this process: with `--eval` among them, the caller's program would run again in the new one. */
const execArgv = entry.endsWith(".ts") ? ["--import", import.meta.resolve("tsx")] : [];

/**
 * The ONNX backend in a process of its own, which is started again when it dies.
 *
 *     closed ──start──▶ loading ──loaded──▶ ready ──exit──▶ waiting ──▶ loading ...
 */
export class ChildBackend implements Backend {
  readonly #options: ChildBackendOptions;
  readonly #pending = new Map<number, Pending>();
  #process: ChildProcess | undefined;
  #ready: Promise<void> = Promise.resolve();
  #isReady = false;
  #isClosed = false;
  #nextId = 1;
  #restartMs = 0;
  #wake: (() => void) | undefined;

  constructor(options: ChildBackendOptions) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  async start(): Promise<void> {
    await this.#launch();
  }

  async score(forest: readonly TokenTree[]): Promise<ForestScores> {
    await this.#ready;
    const child = this.#process;
    if (!child?.connected || !this.#isReady) throw failure("The inference process is not running.");
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#kill("hung"), this.#options.hangMs);
      this.#pending.set(id, { resolve, reject, timer });
      send(child, { type: "score", id, forest }, (error) => {
        if (error) this.#settle(id)?.reject(failure("The inference process could not be reached.", error));
      });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isReady = false;
    this.#wake?.();
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  /** Starts a process and loads the model. @throws ServiceError INVALID_MODEL */
  async #launch(): Promise<void> {
    const child = fork(entry, [], {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv,
    });
    this.#process = child;
    const loaded = new Promise<void>((resolve, reject) => {
      child.on("message", (message: FromProcess) => {
        if (message.type === "loaded") resolve();
        else if (message.type === "refused") reject(new ServiceError("INVALID_MODEL", message.message));
        else this.#receive(message);
      });
      child.on("error", (cause) => reject(failure("The inference process could not be started.", cause)));
      child.on("exit", (code, signal) => {
        reject(
          failure(
            `The inference process ended while it loaded the model (${signal ?? `exit code ${code}`}).`,
          ),
        );
        this.#onExit(child, code, signal);
      });
    });
    const { modelPackage, precision, threads, stateCacheBytes } = this.#options;
    // without file descriptors there is no channel: "error" comes next
    if (child.connected)
      send(child, { type: "load", modelPackage, precision, threads, stateCacheBytes }, () => {});
    try {
      await loaded;
    } catch (error) {
      child.kill("SIGKILL");
      throw error;
    }
    this.#isReady = true;
  }

  #receive(message: Extract<FromProcess, { id: number }>): void {
    const pending = this.#settle(message.id);
    if (message.type === "failed") {
      pending?.reject(failure(message.message));
      return;
    }
    this.#restartMs = 0;
    pending?.resolve({ scores: message.scores, forwards: message.forwards });
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    clearTimeout(pending?.timer);
    return pending;
  }

  #onExit(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (child !== this.#process) return;
    const wasReady = this.#isReady;
    this.#isReady = false;
    for (const id of [...this.#pending.keys()]) {
      this.#settle(id)?.reject(failure("The inference process ended during this run."));
    }
    if (this.#isClosed || !wasReady) return;
    this.#options.log("inference process ended, starting another", { code, signal });
    this.#ready = this.#restart();
  }

  /** Tries until a process holds the model or the backend is closed. */
  async #restart(): Promise<void> {
    while (!this.#isClosed) {
      await this.#wait(this.#restartMs);
      this.#restartMs = Math.min(LONGEST_RESTART_MS, Math.max(FIRST_RESTART_MS, this.#restartMs * 2));
      if (this.#isClosed) return;
      try {
        return await this.#launch();
      } catch (error) {
        this.#options.log("inference process could not be started again", { err: error });
      }
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #kill(reason: string): void {
    this.#options.log("inference process is killed", { reason });
    this.#process?.kill("SIGKILL");
  }
}

function send(child: ChildProcess, message: ToProcess, done: (error: Error | null) => void): void {
  child.send(message, done);
}

function failure(message: string, cause?: unknown): ServiceError {
  return new ServiceError("BACKEND_FAILED", message, { cause });
}
