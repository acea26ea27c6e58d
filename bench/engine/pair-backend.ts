import type { Backend, ForestScores, TokenTree } from "../../src/inference/ports.ts";
import type { ModelPackage } from "../../src/models/package/package.ts";
import type { TaskProcess } from "./task-process.ts";

/**
 * The baseline behind the engine's own port: the same queue, the same tokenizer, the same kind of process beside the
 * service; only what computes differs.
 */
export class PairBackend implements Backend {
  /** Pairs of one run. */
  batch = 32;
  /** It keeps none. */
  readonly shortestKeptState = Number.POSITIVE_INFINITY;
  readonly #process: TaskProcess;
  readonly #modelPackage: ModelPackage;
  readonly #threads: number;
  #isReady = false;
  #tellReady = () => {};

  constructor(process: TaskProcess, modelPackage: ModelPackage, threads: number) {
    this.#process = process;
    this.#modelPackage = modelPackage;
    this.#threads = threads;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get isExpected(): boolean {
    return true;
  }

  async start(): Promise<void> {
    await this.#process.run("loadPairs", { modelPackage: this.#modelPackage, threads: this.#threads });
    this.#isReady = true;
    this.#tellReady();
  }

  /** Names who is told that the baseline is loaded. */
  onReady(listener: () => void): void {
    this.#tellReady = listener;
  }

  score(forest: readonly TokenTree[]): Promise<ForestScores> {
    return this.#process.run("scorePairs", { forest, batch: this.batch });
  }

  async close(): Promise<void> {
    this.#isReady = false;
    await this.#process.close();
  }
}
