import type { Backend, BatchScores } from "../../src/inference/backend.ts";
import { listNodes, type Node } from "../../src/inference/nodes.ts";
import type { ModelPackage } from "../../src/models/package/package.ts";
import type { TaskProcess } from "./task-process.ts";

/**
 * The baseline as a Backend: same queue, same tokenizer, same kind of process. Only the computation differs.
 */
export class PairBackend implements Backend {
  /** Pairs per run. */
  batch = 32;
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

  /** Sets the listener that is called when the baseline is loaded. */
  onReady(listener: () => void): void {
    this.#tellReady = listener;
  }

  score(leaves: readonly Node[]): Promise<BatchScores> {
    return this.#process.run("scorePairs", { nodes: listNodes(leaves), batch: this.batch });
  }

  async close(): Promise<void> {
    this.#isReady = false;
    await this.#process.close();
  }
}
