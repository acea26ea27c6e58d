import type { ServiceError } from "../../errors.ts";
import { Pace, sizeClassOf } from "../../inference/batches/pace.ts";
import type { Clock, ForestScores, TokenTree } from "../../inference/ports.ts";
import { watch } from "./watch.ts";

/** Chosen: runs of one size differ by less, also on a machine that is suddenly busy with other things. */
const PATIENCE = 10;
/** Chosen: a shorter run that takes so long may be one on a machine that swaps or was busy for a moment. */
const LEAST_BUDGET_MS = 5_000;

interface Run {
  /** All of its tokens: nobody knows which states a process still has. */
  readonly tokens: number;
  readonly resolve: (scores: ForestScores) => void;
  readonly reject: (error: ServiceError) => void;
}

export interface RunsOptions {
  readonly clock: Clock;
  /** The longest budget of a run, and that of the first ones, of which nothing is known. */
  readonly hangMs: number;
  /** Told of a run that has used up its budget. */
  readonly onHang: (budgetMs: number) => void;
}

/**
 * The runs that a process has been sent and not answered yet. It computes one after the other; the one that is its turn has a budget:
 * ten times what runs of its size have taken lately, but at least five seconds. Twice as much after each run of that size or a smaller
 * one that used it up, until one of that size or a larger one ends in time: what was taken for a hang may be a model that has become slower.
 */
export class Runs {
  readonly #options: RunsOptions;
  readonly #pace = new Pace();
  /** In the order of their turns. */
  readonly #waiting = new Map<number, Run>();
  /** Hangs by class of size, since a run of that class has ended in time. */
  readonly #hangs = new Map<number, number>();
  #turn: { readonly id: number; readonly since: number; readonly endWatch: () => void } | undefined;
  #nextId = 1;

  constructor(options: RunsOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** @param send told the run's number @returns settled by `scored`, `failed` or `failAll` */
  add(forest: readonly TokenTree[], send: (id: number) => void): Promise<ForestScores> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { tokens: countTokens(forest), resolve, reject });
      this.#nextTurn();
      send(id);
    });
  }

  scored(id: number, scores: ForestScores): void {
    const { clock } = this.#options;
    const tookMs = this.#turn?.id === id ? clock.now() - this.#turn.since : Number.NaN;
    const run = this.#take(id);
    if (run === undefined) return;
    if (tookMs <= this.#usualBudgetOf(run.tokens)) this.#forgetHangs(run.tokens);
    this.#pace.record(run.tokens - (scores.knownTokens ?? 0), tookMs);
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

function countTokens(forest: readonly TokenTree[]): number {
  let tokens = 0;
  for (const { state, questions } of forest) {
    tokens += state.length;
    for (const question of questions) {
      tokens += question.tokens.length;
      for (const candidate of question.candidates) tokens += candidate.length;
    }
  }
  return tokens;
}
