import { countOf, type Workload } from "../../bench/workloads/workload.ts";
import type { EngineCore } from "../../src/inference/engine-core.ts";
import { type Prepared, type Subject, scoreChecked } from "./subject.ts";

/** A workload's requests. Each is used once, so that no state recurs by accident. */
export class Supply {
  readonly #workload: Workload;
  readonly #seed: number;
  readonly #subject: Subject;
  #next = 0;

  constructor(workload: Workload, seed: number, subject: Subject) {
    this.#workload = workload;
    this.#seed = seed;
    this.#subject = subject;
  }

  /** Prepares the next requests, before time is measured. */
  async take(count: number): Promise<Prepared[]> {
    const taken: Prepared[] = [];
    for (let i = 0; i < count; i++) {
      taken.push(await this.#subject.prepare(this.#workload.request(this.#seed, this.#next++)));
    }
    return taken;
  }
}

export interface SliceLimits {
  /** Concurrent requests. */
  readonly callers: number;
  readonly budgetMs: number;
  readonly signal: AbortSignal;
}

export interface Slice {
  /** From the first request to the last answer. */
  readonly elapsedMs: number;
  readonly latenciesMs: readonly number[];
  readonly served: readonly Prepared[];
  readonly pairs: number;
  readonly decisions: number;
}

/** Runs a closed loop until the time is over or all requests are used. */
export async function runSlice(
  engine: EngineCore,
  prepared: readonly Prepared[],
  { callers, budgetMs, signal }: SliceLimits,
): Promise<Slice> {
  const served: Prepared[] = [];
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  let next = 0;
  const caller = async () => {
    while (next === 0 || performance.now() - startedAt < budgetMs) {
      const request = prepared[next++];
      if (!request) return;
      const askedAt = performance.now();
      await scoreChecked(engine, request, signal);
      latenciesMs.push(performance.now() - askedAt);
      served.push(request);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const elapsedMs = performance.now() - startedAt;
  const counts = served.map(({ request }) => countOf(request));
  return {
    elapsedMs,
    latenciesMs,
    served,
    pairs: counts.reduce((sum, { pairs }) => sum + pairs, 0),
    decisions: counts.reduce((sum, { decisions }) => sum + decisions, 0),
  };
}

/** Estimated number of requests for a slice of this length, with a margin. */
export function enoughFor(budgetMs: number, msPerRequest: number, callers: number, most: number): number {
  return Math.max(1, Math.min(most, callers + Math.ceil((1.5 * budgetMs) / msPerRequest)));
}
