import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import os from "node:os";
import { ServiceError } from "../../errors.ts";
import type { BackendFacts, Clock } from "../../inference/ports.ts";
import type { ModelPackage } from "../../models/package/package.ts";
import type { FromProcess, ToProcess } from "./messages.ts";

export interface LoadOptions {
  /** Its files are checked against this manifest each time a process loads them. */
  readonly modelPackage: ModelPackage;
  /** Threads that may compute at a time. */
  readonly threads: number;
  readonly stateCacheBytes: number;
  /** Whether vectors are given beside the scores; false unless given. */
  readonly hasVectors?: boolean;
  /** That `chooseDevice` has tried, of ONNX Runtime; its CPU unless given. */
  readonly device?: string | undefined;
  /** A process that takes longer to load the model counts as hung. */
  readonly loadMs: number;
  readonly clock: Clock;
}

/** How a process ended: by itself or by a signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program that has just been started, and the way for messages to it. */
export interface Channel {
  readonly child: ChildProcess;
  readonly isOpen: boolean;
  /** @param done told of a message that could not be sent */
  send(message: ToProcess, done: (error: Error | null) => void): void;
  /** What to tell of a program that could not be started, where more is known than that. */
  explain?(cause: Error): string | undefined;
  /** What to do about one that has been started and does not load the model, nor says why. */
  readonly remedy?: string;
}

/** Starts a program that answers `ToProcess` with `FromProcess`. @param receive told of its answers, later than this call */
export type OpenChannel = (receive: (message: FromProcess) => void) => Channel;

/** Listener for the events of a process. */
export interface ProcessListener {
  readonly answer: (message: Extract<FromProcess, { id: number }>) => void;
  readonly pong: (message: Extract<FromProcess, { type: "pong" }>) => void;
  readonly exit: (exit: Exit) => void;
}

type Loaded = BackendFacts | undefined;

/** One inference process, from start to end. It starts before the model is known, to save time. */
export class InferenceProcess {
  readonly #channel: Channel;
  readonly #loaded: Promise<Loaded>;
  #resolveLoad: (facts: Loaded) => void = () => {};
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
    this.#loaded.catch(() => {}); // it may end before a model is to be loaded: `load` tells
  }

  /**
   * Resolves when it holds the model. To be called once.
   *
   * @returns what it computes on, where it says so
   * @throws ServiceError INVALID_MODEL | INVALID_OPTION | BACKEND_FAILED
   */
  async load(
    { modelPackage, threads, stateCacheBytes, hasVectors = false, device, loadMs, clock }: LoadOptions,
    listener: ProcessListener,
  ): Promise<Loaded> {
    this.#listener = listener;
    const cancelTimer = clock.after(loadMs, () => {
      this.#rejectLoad(
        this.#silence(`The inference process did not load the model within ${loadMs / 1000} s.`),
      );
    });
    // without file descriptors there is no channel: "error" has come or comes next
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
    if (message.type === "loaded") this.#resolveLoad(message.facts);
    else if (message.type === "refused")
      this.#rejectLoad(new ServiceError(message.reason ?? "INVALID_MODEL", message.message));
    else if (message.type === "pong") this.#listener.pong(message);
    else this.#listener.answer(message);
  }

  /** Not once it has been killed, or once the connection is gone: both show before the exit does. */
  get isConnected(): boolean {
    return this.#channel.isOpen && !this.#channel.child.killed;
  }

  /** @param done told of a message that could not be sent */
  send(message: ToProcess, done: (error: Error | null) => void = () => {}): void {
    this.#channel.send(message, done);
  }

  /** At once, whatever it is doing. */
  kill(): void {
    this.#channel.child.kill("SIGKILL");
  }

  /** Kills it and resolves when it is gone. */
  async end(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#channel.child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return; // never there, or gone
    const exited = once(this.#channel.child, "exit");
    this.kill();
    await exited;
  }
}

const NO_MEMORY = "If nobody else has killed it, the system did so because memory ran out.";

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
