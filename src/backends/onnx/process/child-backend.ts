import type { ServiceError } from "../../../errors.ts";
import type { Backend, ForestScores, TokenTree } from "../../../inference/ports.ts";
import type { Precision } from "../../../models/graph/graph.ts";
import { shortestKeptState } from "../tensors/kept-states.ts";
import { type Exit, failure, InferenceProcess, type LoadOptions } from "./inference-process.ts";
import type { FromProcess } from "./messages.ts";
import { RestartPace } from "./restart-pace.ts";

export interface ChildBackendOptions extends LoadOptions {
  readonly precision: Precision;
  /** One that is there already: the first model is loaded into it. */
  readonly process?: InferenceProcess;
  /** A run that takes longer counts as hung, and its process is killed. */
  readonly hangMs: number;
  readonly log: (event: string, details: Record<string, unknown>) => void;
}

interface Pending {
  readonly resolve: (scores: ForestScores) => void;
  readonly reject: (error: ServiceError) => void;
  readonly cancelTimer: () => void;
}

/**
 * The ONNX backend in a process of its own, which is started again when it dies.
 *
 *     closed ──start──▶ loading ──loaded──▶ ready ──exit──▶ waiting ──▶ loading ...
 *                          └──── exit, or too slow ────────────▲
 */
export class ChildBackend implements Backend {
  readonly #options: ChildBackendOptions;
  readonly #pace = new RestartPace();
  readonly #pending = new Map<number, Pending>();
  #process: InferenceProcess | undefined;
  #readySince: number | undefined;
  #ready: Promise<void> = Promise.resolve();
  #isReady = false;
  #isExpected = true;
  /** Resolves when the process is gone, and `#ready` stands for the next one. */
  #gone: Promise<void> = Promise.resolve();
  #tellGone: () => void = () => {};
  #onReady: () => void = () => {};
  #isClosed = false;
  #nextId = 1;
  #wake: () => void = () => {};

  constructor(options: ChildBackendOptions) {
    this.#options = options;
    this.#process = options.process;
  }

  get shortestKeptState(): number {
    const { modelPackage, stateCacheBytes } = this.#options;
    // a graph of another's gives no keys and values: it keeps nothing
    const keeps = modelPackage.manifest.architecture.type !== "onnx-joint-pairs";
    return shortestKeptState(keeps ? stateCacheBytes : 0);
  }

  /** Not once the connection is gone, which shows before the exit does. */
  get isReady(): boolean {
    return this.#isReady && this.#process?.isConnected === true;
  }

  get isExpected(): boolean {
    return this.#isExpected;
  }

  onReady(listener: () => void): void {
    this.#onReady = listener;
  }

  async start(): Promise<void> {
    await this.#launch(this.#process);
  }

  async score(forest: readonly TokenTree[]): Promise<ForestScores> {
    if (this.#isReady && !this.isReady) await this.#gone;
    await this.#ready;
    const process = this.#process;
    if (process === undefined || !this.isReady) throw failure("The inference process is not running.");
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const { clock, hangMs, log } = this.#options;
      const cancelTimer = clock.after(hangMs, () => {
        log("inference process is killed", { reason: "hung" });
        process.kill();
      });
      this.#pending.set(id, { resolve, reject, cancelTimer });
      process.send({ type: "score", id, forest }, (error) => {
        if (error) this.#settle(id)?.reject(failure("The inference process could not be reached.", error));
      });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isReady = false;
    this.#wake();
    await this.#process?.end();
  }

  /** Loads the model into a process. @throws ServiceError INVALID_MODEL | BACKEND_FAILED */
  async #launch(process = new InferenceProcess(this.#options.precision)): Promise<void> {
    this.#process = process;
    this.#gone = new Promise((resolve) => {
      this.#tellGone = resolve;
    });
    try {
      await process.load(this.#options, {
        answer: (message) => this.#receive(message),
        exit: (exit) => this.#onExit(process, exit),
      });
    } catch (error) {
      process.kill();
      throw error;
    }
    this.#isReady = true;
    this.#isExpected = true;
    this.#readySince = this.#options.clock.now();
    this.#onReady();
  }

  #receive(message: Extract<FromProcess, { id: number }>): void {
    const pending = this.#settle(message.id);
    if (message.type === "failed") pending?.reject(failure(message.message));
    else pending?.resolve({ scores: message.scores, forwards: message.forwards });
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.cancelTimer();
    return pending;
  }

  #onExit(process: InferenceProcess, { code, signal }: Exit): void {
    if (process !== this.#process) return;
    const wasReady = this.#isReady;
    this.#isReady = false;
    for (const id of [...this.#pending.keys()]) {
      this.#settle(id)?.reject(failure("The inference process ended during this run."));
    }
    if (!this.#isClosed && wasReady) {
      this.#options.log("inference process ended, restarting it", { code, signal });
      this.#ready = this.#restart();
    }
    this.#tellGone();
  }

  /** Tries until a process holds the model or the backend is closed. */
  async #restart(): Promise<void> {
    while (!this.#isClosed) {
      const now = this.#options.clock.now();
      const lived = now - (this.#readySince ?? now);
      this.#readySince = undefined; // here: making a process may throw
      await this.#wait(this.#pace.next(lived));
      if (this.#isClosed) return;
      try {
        return await this.#launch();
      } catch (error) {
        this.#isExpected = false;
        this.#options.log("inference process could not be restarted", { err: error });
      }
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}
