import type { Backend, BackendCounters, BackendFacts, BatchScores } from "../../inference/backend.ts";
import { listNodes, type Node } from "../../inference/nodes.ts";
import type { BackendSettings } from "../backend.ts";
import { Heartbeat, Runs } from "./hangs.ts";
import { type Exit, failure, type InferenceProcess, type Loaded } from "./inference-process.ts";
import type { FromProcess, RunnerCounters } from "./messages.ts";

export interface ChildBackendOptions extends BackendSettings {
  /** Starts a process that can load the model. */
  readonly startProcess: () => InferenceProcess;
  /** A process that has been started already; the model is loaded into it first. */
  readonly process?: InferenceProcess;
}

/**
 * A backend in a process of its own, which is restarted when it dies.
 *
 *     closed ──start──▶ loading ──loaded──▶ ready ──exit──▶ waiting ──▶ loading ...
 *                          └──── exit, or too slow ────────────▲
 *
 * A process that hangs is killed, which leads to "exit". During a run it counts as hung when the run exceeds its time
 * budget (Runs), otherwise when it does not answer pings (Heartbeat).
 */
export class ChildBackend implements Backend {
  readonly #options: ChildBackendOptions;
  readonly #pace = new RestartPace();
  readonly #runs: Runs;
  readonly #heartbeat: Heartbeat;
  readonly #counters = new ProcessCounters();
  #process: InferenceProcess | undefined;
  #startedAt = 0;
  #readySince: number | undefined;
  #ready: Promise<void> = Promise.resolve();
  #loaded: Loaded | undefined;
  #isReady = false;
  #isExpected = true;
  /** Resolves when the process has exited and `#ready` is the promise of the next one. */
  #gone: Promise<void> = Promise.resolve();
  #resolveGone: () => void = () => {};
  #onReady: () => void = () => {};
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(options: ChildBackendOptions) {
    this.#options = options;
    this.#process = options.process;
    const { clock, hangMs } = options;
    this.#runs = new Runs({
      clock,
      hangMs,
      onHang: (budgetMs) => this.#kill("a run takes too long", { budgetMs }),
    });
    this.#heartbeat = new Heartbeat(clock, {
      isIdle: () => this.#runs.isEmpty && this.#isReachable,
      ping: () => this.#process?.send({ type: "ping" }),
      onBack: () => this.#onReady(),
      onDead: () => this.#kill("it does not answer"),
    });
  }

  /** False while the process does not answer pings. */
  get isReady(): boolean {
    return this.#isReachable && !this.#heartbeat.isSilent;
  }

  /** Whether a process holds the model and can be reached. */
  get #isReachable(): boolean {
    return this.#isReady && this.#process?.isConnected === true;
  }

  get isExpected(): boolean {
    return this.#isExpected;
  }

  get facts(): BackendFacts | undefined {
    return this.#loaded?.facts;
  }

  onReady(listener: () => void): void {
    this.#onReady = listener;
  }

  async start(): Promise<void> {
    this.#startedAt = this.#options.clock.now();
    await this.#launch(this.#process);
  }

  counters(): BackendCounters {
    return this.#counters.all();
  }

  async score(leaves: readonly Node[]): Promise<BatchScores> {
    if (this.#isReady && !this.#isReachable) await this.#gone;
    await this.#ready;
    const process = this.#process;
    if (process === undefined || !this.#isReachable) throw failure("The inference process is not running.");
    const isAlone = this.#runs.isEmpty;
    const nodes = listNodes(leaves);
    return this.#runs.add(nodes.tokens.length, (id) => {
      process.send({ type: "score", id, nodes, isAlone }, (error) => {
        if (!error) return;
        process.kill(); // not ready from now on, or the second try would fail the same way; #onExit does the rest
        this.#runs.failed(id, failure("The inference process could not be reached.", error));
      });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isReady = false;
    this.#heartbeat.stop();
    this.#wake();
    await this.#process?.end();
  }

  /** Loads the model into a process. @throws ServiceError INVALID_MODEL | INVALID_OPTION | BACKEND_FAILED */
  async #launch(process = this.#options.startProcess()): Promise<void> {
    this.#process = process;
    this.#gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
    try {
      this.#loaded = await process.load(this.#options, {
        answer: (message) => this.#receive(message),
        pong: (message) => {
          this.#counters.record(message);
          this.#heartbeat.answered();
        },
        exit: (exit) => this.#onExit(process, exit),
      });
    } catch (error) {
      process.kill();
      throw error;
    }
    this.#isReady = true;
    this.#isExpected = true;
    this.#readySince = this.#options.clock.now();
    this.#heartbeat.start();
    this.#onReady();
  }

  #receive(message: Extract<FromProcess, { id: number }>): void {
    if (message.type === "scored") this.#counters.record(message);
    if (message.type === "failed") this.#runs.failed(message.id, failure(message.message));
    else this.#runs.scored(message.id, message);
  }

  /** `#onExit` does the rest. */
  #kill(reason: string, details: Record<string, unknown> = {}): void {
    this.#process?.kill();
    this.#options.log("inference process is killed", { reason, ...details });
  }

  #onExit(process: InferenceProcess, { code, signal }: Exit): void {
    if (process !== this.#process) return;
    this.#counters.end();
    const wasReady = this.#isReady;
    this.#isReady = false;
    this.#heartbeat.stop();
    this.#runs.failAll(failure("The inference process ended during this run."));
    this.#resolveGone();
    if (!this.#isClosed && wasReady) {
      this.#ready = this.#restart();
      this.#options.log("inference process ended, restarting it", { code, signal });
    }
  }

  /** Repeats until a process has loaded the model or the backend is closed. */
  async #restart(): Promise<void> {
    while (!this.#isClosed) {
      const now = this.#options.clock.now();
      const lived = now - (this.#readySince ?? now);
      this.#readySince = undefined;
      await this.#wait(this.#pace.next(lived, now - this.#startedAt));
      if (this.#isClosed) return;
      this.#startedAt = this.#options.clock.now(); // before #launch, which may throw
      try {
        this.#counters.restarts += 1;
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

const NOTHING: RunnerCounters = { stateHits: 0, stateMisses: 0, residentBytes: 0 };

/** Sums the counters of successive inference processes. */
export class ProcessCounters {
  /** Number of processes started to replace one that had ended. */
  restarts = 0;
  /** Sum of the processes that have ended. */
  #past = NOTHING;
  #now = NOTHING;

  /** Records the current process's counters. */
  record({ stateHits, stateMisses, residentBytes }: RunnerCounters): void {
    this.#now = { stateHits, stateMisses, residentBytes };
  }

  /** Call when the process has ended. */
  end(): void {
    const { stateHits, stateMisses } = this.all();
    this.#past = { stateHits, stateMisses, residentBytes: 0 };
    this.#now = NOTHING;
  }

  all(): BackendCounters {
    return {
      restarts: this.restarts,
      stateHits: this.#past.stateHits + this.#now.stateHits,
      stateMisses: this.#past.stateMisses + this.#now.stateMisses,
      residentBytes: this.#now.residentBytes,
    };
  }
}

/** Chosen: a restart waits for at most one second, so that the pause and a load together take less than two. */
const FIRST_INTERVAL_MS = 100;
const LONGEST_INTERVAL_MS = 1_000;
/** Chosen: a process that has lived this long was not killed by its first requests. */
const CALM_MS = 10_000;

/**
 * Exponential backoff for restarts. A process that has lived for a while is restarted at once. Otherwise two starts are at
 * least 100 ms apart, and twice as long each time, up to a second. Successful answers do not reset the backoff, because a
 * request that kills processes may repeatedly come between good ones.
 */
export class RestartPace {
  #intervalMs = 0;

  /**
   * @param livedMs time for which the ended process was ready; 0 if it never was
   * @param sinceStartMs time since it was started
   * @returns milliseconds to wait
   */
  next(livedMs: number, sinceStartMs: number): number {
    if (livedMs >= CALM_MS) this.#intervalMs = 0;
    const intervalMs = this.#intervalMs;
    this.#intervalMs = Math.min(LONGEST_INTERVAL_MS, Math.max(FIRST_INTERVAL_MS, intervalMs * 2));
    return Math.max(0, intervalMs - sinceStartMs);
  }
}
