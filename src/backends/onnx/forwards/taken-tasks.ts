import type { ForwardTask } from "../../tensors/forward.ts";
import type { ForwardResult, ForwardRunner, Known } from "./forward-runner.ts";

/** Independent tasks for several threads. Each thread has a copy of this object. */
export interface Round {
  readonly tasks: readonly ForwardTask[];
  readonly known: Known;
  /** Shared memory: Int32 index of the next free task. */
  readonly next: SharedArrayBuffer;
}

/** Takes tasks until none is left. @returns results by task index */
export async function runTaken(
  runner: ForwardRunner,
  { tasks, known, next }: Round,
): Promise<Map<number, ForwardResult>> {
  const results = new Map<number, ForwardResult>();
  const counter = new Int32Array(next);
  try {
    while (true) {
      const number = Atomics.add(counter, 0, 1);
      const task = tasks[number];
      if (!task) return results;
      results.set(number, await runner.run(task, known));
    }
  } catch (error) {
    Atomics.store(counter, 0, tasks.length); // the batch has failed: stop the other threads
    throw error;
  }
}
