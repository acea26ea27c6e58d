import type { ServiceError } from "../../errors.ts";
import type { BatchScores } from "../../inference/backend.ts";
import type { Clock } from "../../inference/clock.ts";
import { Pace, sizeClassOf } from "./pace.ts";
import { watch } from "./watch.ts";

/** Budget of a run, as a multiple of its usual time. Chosen: runs of one size vary less, even on a machine that becomes busy. */
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
 * budget: ten times what runs of its size took lately, at least five seconds. Each run that exceeds its budget doubles the
 * budget of runs of its size and larger, because the model may have become slower rather than hung. A run that ends within
 * the usual budget resets that for runs of its size and smaller.
 */
export class Runs {
  readonly #options: RunsOptions;
  readonly #pace = new Pace();
  /** In the order in which the process begins them. */
  readonly #waiting = new Map<number, Run>();
  /** Number of hangs by size class, since a run of that class or a larger one last ended in time. */
  readonly #hangs = new Map<number, number>();
  #turn: { readonly id: number; readonly since: number; readonly endWatch: () => void } | undefined;
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
      this.#nextTurn();
      send(id);
    });
  }

  scored(id: number, scores: BatchScores): void {
    const { clock } = this.#options;
    const tookMs = this.#turn?.id === id ? clock.now() - this.#turn.since : Number.NaN;
    const run = this.#take(id);
    if (run === undefined) return;
    if (tookMs <= this.#usualBudgetOf(run.tokens)) this.#forgetHangs(run.tokens);
    this.#pace.record(run.tokens - (scores.cachedTokens ?? 0), tookMs);
    run.resolve(scores);
  }

  failed(id: number, error: ServiceError): void {
    this.#take(id)?.reject(error);
  }

  failAll(error: ServiceError): void {
    for (const id of [...this.#waiting.keys()]) this.failed(id, error);
  }

  #take(id: number): Run | undefined {
    const run = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#turn?.id === id) {
      this.#turn.endWatch();
      this.#turn = undefined;
      this.#nextTurn();
    }
    return run;
  }

  #nextTurn(): void {
    if (this.#turn !== undefined) return;
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [id, { tokens }] = next;
    const { clock, onHang } = this.#options;
    const budgetMs = this.#budgetOf(tokens);
    this.#turn = {
      id,
      since: clock.now(),
      endWatch: watch(clock, budgetMs, () => {
        this.#noteHang(tokens);
        onHang(budgetMs);
      }),
    };
  }

  #budgetOf(tokens: number): number {
    let hangs = 0;
    for (const [sizeClass, ofClass] of this.#hangs) if (sizeClass <= sizeClassOf(tokens)) hangs += ofClass;
    return Math.min(this.#options.hangMs, 2 ** hangs * this.#usualBudgetOf(tokens));
  }

  #usualBudgetOf(tokens: number): number {
    const expectedMs = this.#pace.expectedMs(tokens);
    if (expectedMs === undefined) return this.#options.hangMs;
    return Math.max(LEAST_BUDGET_MS, PATIENCE * expectedMs);
  }

  #noteHang(tokens: number): void {
    const sizeClass = sizeClassOf(tokens);
    this.#hangs.set(sizeClass, (this.#hangs.get(sizeClass) ?? 0) + 1);
  }

  #forgetHangs(tokens: number): void {
    for (const sizeClass of [...this.#hangs.keys()])
      if (sizeClass <= sizeClassOf(tokens)) this.#hangs.delete(sizeClass);
  }
}
