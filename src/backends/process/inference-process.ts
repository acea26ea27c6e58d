import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import os from "node:os";
import { ServiceError } from "../../errors.ts";
import type { BackendSettings } from "../backend.ts";
import type { FromProcess, ToProcess } from "./messages.ts";

/** How a process ended: by itself or by a signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program that has just been started, and the channel for messages to it. */
export interface Channel {
  readonly child: ChildProcess;
  readonly isOpen: boolean;
  /** @param done called when the message has been sent, with an error if it could not be */
  send(message: ToProcess, done: (error: Error | null) => void): void;
  /** An error message that says why the program could not be started, if the cause is understood. */
  explain?(cause: Error): string | undefined;
  /** Advice for the case that a started program neither loads the model nor reports why. */
  readonly remedy?: string;
}

/** Starts a program that answers `ToProcess` with `FromProcess`. @param receive gets its answers, after this call has returned */
export type OpenChannel = (receive: (message: FromProcess) => void) => Channel;

/** Listener for the events of a process. */
export interface ProcessListener {
  readonly answer: (message: Extract<FromProcess, { id: number }>) => void;
  readonly pong: (message: Extract<FromProcess, { type: "pong" }>) => void;
  readonly exit: (exit: Exit) => void;
}

/** What a process reports when it has loaded the model. */
export type Loaded = Omit<Extract<FromProcess, { type: "loaded" }>, "type">;

/** One inference process, from start to end. It starts before the model is known, to save time. */
export class InferenceProcess {
  readonly #channel: Channel;
  readonly #loaded: Promise<Loaded>;
  #resolveLoad: (loaded: Loaded) => void = () => {};
  #rejectLoad: (error: ServiceError) => void = () => {};
  #listener: ProcessListener = { answer: () => {}, pong: () => {}, exit: () => {} };

  constructor(open: OpenChannel) {
    this.#channel = open((message) => this.#receive(message));
    const { child } = this.#channel;
    yieldTo(process.pid, child.pid);
    this.#loaded = new Promise<Loaded>((resolve, reject) => {
      this.#resolveLoad = resolve;
      this.#rejectLoad = reject;
    });
    this.#listen(child);
    this.#loaded.catch(() => {}); // the process may end before `load` is called, which then reports the error
  }

  /**
   * Resolves when the process has loaded the model. Call once.
   *
   * @throws ServiceError INVALID_MODEL | INVALID_OPTION | BACKEND_FAILED
   */
  async load(
    {
      modelPackage,
      threads,
      stateCacheBytes,
      hasVectors = false,
      device,
      loadMs,
      clock,
    }: Omit<BackendSettings, "hangMs" | "log">,
    listener: ProcessListener,
  ): Promise<Loaded> {
    this.#listener = listener;
    const cancelTimer = clock.after(loadMs, () => {
      this.#rejectLoad(
        this.#silence(`The inference process did not load the model within ${loadMs / 1000} s.`),
      );
    });
    // without a channel (no free file descriptors), the "error" event rejects #loaded
    if (this.isConnected)
      this.send({
        type: "load",
        modelPackage,
        threads,
        stateCacheBytes,
        hasVectors,
        ...(device && { device }),
      });
    return this.#loaded.finally(cancelTimer);
  }

  #listen(child: ChildProcess): void {
    child.on("error", (cause) => {
      const message = this.#channel.explain?.(cause) ?? "The inference process could not be started.";
      this.#rejectLoad(failure(message, cause));
    });
    child.on("exit", (code, signal) => {
      const how = signal ?? `exit code ${code}`;
      const message = `The inference process ended while loading the model (${how}).`;
      this.#rejectLoad(signal === "SIGKILL" ? failure(`${message} ${NO_MEMORY}`) : this.#silence(message));
      this.#listener.exit({ code, signal });
    });
  }

  #silence(message: string): ServiceError {
    const { remedy } = this.#channel;
    return failure(remedy === undefined ? message : `${message} ${remedy}`);
  }

  #receive(message: FromProcess): void {
    if (message.type === "loaded") this.#resolveLoad(message);
    else if (message.type === "refused")
      this.#rejectLoad(new ServiceError(message.reason ?? "INVALID_MODEL", message.message));
    else if (message.type === "pong") this.#listener.pong(message);
    else this.#listener.answer(message);
  }

  /** False once the process has been killed or the channel has closed. Both are known before "exit". */
  get isConnected(): boolean {
    return this.#channel.isOpen && !this.#channel.child.killed;
  }

  /** @param done called when the message has been sent, with an error if it could not be */
  send(message: ToProcess, done: (error: Error | null) => void = () => {}): void {
    this.#channel.send(message, done);
  }

  /** Kills the process at once, even during a run. */
  kill(): void {
    this.#channel.child.kill("SIGKILL");
  }

  /** Kills the process and resolves when it has exited. */
  async end(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#channel.child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return; // never started, or has exited
    const exited = once(this.#channel.child, "exit");
    this.kill();
    await exited;
  }
}

const NO_MEMORY = "Unless someone killed it, the system did so because memory ran out.";

/** Chosen: if both compete for a processor, the service gets about three quarters of it. */
const NICER_BY = 5;

/**
 * Gives a new process a lower priority than its service, so that the service can refuse requests and report its health
 * while the model computes. Must be called before the process starts threads, which inherit the priority on Linux.
 */
function yieldTo(service: number, pid: number | undefined): void {
  if (pid === undefined) return; // it could not be started
  try {
    os.setPriority(pid, Math.min(os.getPriority(service) + NICER_BY, os.constants.priority.PRIORITY_LOW));
  } catch {
    // the process has ended already, or the system does not allow it: the priority stays
  }
}

export function failure(message: string, cause?: unknown): ServiceError {
  return new ServiceError("BACKEND_FAILED", message, { cause });
}
