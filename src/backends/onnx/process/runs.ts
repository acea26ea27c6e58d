import type { ServiceError } from "../../../errors.ts";
import type { Clock, ForestScores, TokenTree } from "../../../inference/ports.ts";
import { Pace } from "../../../inference/queue/pace.ts";
import { watch } from "./watch.ts";

/** Chosen: runs of one size differ by less, also on a machine that is suddenly busy with other things. */
const PATIENCE = 10;
/** Chosen: a shorter run that takes so long may be one on a machine that swaps or was busy for a moment. */
const LEAST_BUDGET_MS = 5_000;

interface Run {
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
 * ten times what runs of its size have taken lately, but at least five seconds.
 */
export class Runs {
  readonly #options: RunsOptions;
  readonly #pace = new Pace();
  /** In the order of their turns. */
  readonly #waiting = new Map<number, Run>();
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
    this.#pace.record(run.tokens, tookMs);
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
      endWatch: watch(clock, budgetMs, () => onHang(budgetMs)),
    };
  }

  #budgetOf(tokens: number): number {
    const expectedMs = this.#pace.expectedMs(tokens);
    if (expectedMs === undefined) return this.#options.hangMs;
    return Math.min(this.#options.hangMs, Math.max(LEAST_BUDGET_MS, PATIENCE * expectedMs));
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
