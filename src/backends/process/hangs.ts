import type { ServiceError } from "../../errors.ts";
import type { BatchScores } from "../../inference/backend.ts";
import type { Clock } from "../../inference/clock.ts";
import { Throughput } from "../../inference/throughput.ts";

/** Time between checks. Chosen. */
const TICK_MS = 250;

/**
 * Calls back once something has taken too long. Time in which this process was stopped, or too busy to run its timers, does
 * not count, because it could not receive answers then.
 *
 * @param ms time limit
 * @returns a function that cancels the watch
 */
export function watch(clock: Clock, ms: number, onOver: () => void): () => void {
  let left = ms;
  let cancel = () => {};
  const next = () => {
    const since = clock.now();
    cancel = clock.after(Math.min(left, TICK_MS), () => {
      left -= Math.min(clock.now() - since, 2 * TICK_MS);
      if (left > 0) next();
      else onOver();
    });
  };
  next();
  return () => cancel();
}

/**
 * Budget of a run, as a multiple of its usual time. Chosen: small runs take a few times as long for a token as large ones, but
 * have the least budget; runs of one size vary less, even on a machine that becomes busy.
 */
const PATIENCE = 10;
/** Chosen: even a short run may take this long on a machine that swaps or is briefly busy. */
const LEAST_BUDGET_MS = 5_000;

interface Run {
  /** All tokens of the run, because the service does not know which states the process has cached. */
  readonly tokens: number;
  readonly resolve: (scores: BatchScores) => void;
  readonly reject: (error: ServiceError) => void;
}

export interface RunsOptions {
  readonly clock: Clock;
  /** Maximum budget of a run; also the budget of the first runs, when no times are known. */
  readonly hangMs: number;
  /** Called when a run has exceeded its budget. */
  readonly onHang: (budgetMs: number) => void;
}

/**
 * The runs that a process has been sent and has not answered. It begins them in order, and the oldest run has a time
 * budget: ten times what its tokens took lately, at least five seconds. Each run that exceeds its budget doubles the
 * budget of runs of its size and larger, because the model may have become slower rather than hung. A run that ends within
 * the usual budget resets that for runs of its size and smaller.
 */
export class Runs {
  readonly #options: RunsOptions;
  readonly #throughput = new Throughput();
  /** In the order in which the process begins them. */
  readonly #waiting = new Map<number, Run>();
  /** Tokens of the runs that hung since one of their size or larger last ended in time. */
  #hung: readonly number[] = [];
  #current: { readonly id: number; readonly since: number; readonly endWatch: () => void } | undefined;
  #nextId = 1;

  constructor(options: RunsOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /**
   * @param tokens all tokens of the run
   * @param send   sends the run under the given id
   * @returns      a promise that `scored`, `failed` or `failAll` settles
   */
  add(tokens: number, send: (id: number) => void): Promise<BatchScores> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { tokens, resolve, reject });
      this.#watchNext();
      send(id);
    });
  }

  scored(id: number, scores: BatchScores): void {
    const { clock } = this.#options;
    const tookMs = this.#current?.id === id ? clock.now() - this.#current.since : Number.NaN;
    const run = this.#remove(id);
    if (run === undefined) return;
    if (tookMs <= this.#usualBudgetOf(run.tokens))
      this.#hung = this.#hung.filter((tokens) => tokens > run.tokens);
    this.#throughput.record(run.tokens - (scores.cachedTokens ?? 0), tookMs);
    run.resolve(scores);
  }

  failed(id: number, error: ServiceError): void {
    this.#remove(id)?.reject(error);
  }

  failAll(error: ServiceError): void {
    for (const id of [...this.#waiting.keys()]) this.failed(id, error);
  }

  #remove(id: number): Run | undefined {
    const run = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#current?.id === id) {
      this.#current.endWatch();
      this.#current = undefined;
      this.#watchNext();
    }
    return run;
  }

  #watchNext(): void {
    if (this.#current !== undefined) return;
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [id, { tokens }] = next;
    const { clock, onHang } = this.#options;
    const budgetMs = this.#budgetOf(tokens);
    this.#current = {
      id,
      since: clock.now(),
      endWatch: watch(clock, budgetMs, () => {
        this.#hung = [...this.#hung, tokens];
        onHang(budgetMs);
      }),
    };
  }

  #budgetOf(tokens: number): number {
    const hangs = this.#hung.filter((hung) => hung <= tokens).length;
    return Math.min(this.#options.hangMs, 2 ** hangs * this.#usualBudgetOf(tokens));
  }

  #usualBudgetOf(tokens: number): number {
    const expectedMs = this.#throughput.msFor(tokens);
    if (expectedMs === undefined) return this.#options.hangMs;
    return Math.max(LEAST_BUDGET_MS, Math.round(PATIENCE * expectedMs));
  }
}

/** Time between pings. Chosen: a ping is a few bytes each way. */
const BEAT_MS = 1_000;
/** Chosen: an idle process answers within milliseconds, on a busy machine within a few tenths of a second. */
const SILENT_MS = 2_000;
const DEAD_MS = 5_000;

/** What a heartbeat knows of its process. */
export interface Pinged {
  /** Whether no run is in progress. Only then can the process answer at once. */
  isIdle(): boolean;
  /** Sends the process a message that it must answer. */
  ping(): void;
  /** Called when a silent process has answered after all. */
  onBack(): void;
  /** Called when a process has been silent for too long. */
  onDead(): void;
}

/**
 * Detects an idle process that hangs. The process gets a ping every second. It counts as silent after two seconds without
 * an answer, and as dead after five.
 */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #pinged: Pinged;
  #isSilent = false;
  #endBeats: () => void = () => {};
  /** Defined while a ping is unanswered. */
  #endWatch: (() => void) | undefined;

  constructor(clock: Clock, pinged: Pinged) {
    this.#clock = clock;
    this.#pinged = pinged;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Call when a process is ready. */
  start(): void {
    this.stop();
    this.#endBeats = this.#clock.after(BEAT_MS, () => this.#beat());
  }

  /** Call when the process has ended. */
  stop(): void {
    this.#endBeats();
    this.#forget();
  }

  /** Call when the process has answered a ping. It handles messages in order, so an answer counts even if a run was sent meanwhile. */
  answered(): void {
    const wasSilent = this.#isSilent;
    this.#forget();
    if (wasSilent) this.#pinged.onBack();
  }

  #beat(): void {
    this.#endBeats = this.#clock.after(BEAT_MS, () => this.#beat());
    if (this.#endWatch !== undefined || !this.#pinged.isIdle()) return;
    this.#endWatch = watch(this.#clock, SILENT_MS, () => {
      this.#isSilent = true;
      this.#endWatch = watch(this.#clock, DEAD_MS - SILENT_MS, () => this.#pinged.onDead());
    });
    this.#pinged.ping();
  }

  #forget(): void {
    this.#endWatch?.();
    this.#endWatch = undefined;
    this.#isSilent = false;
  }
}
