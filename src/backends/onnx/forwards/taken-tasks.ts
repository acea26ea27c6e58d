import type { ForwardTask } from "../tensors/forward.ts";
import type { ForwardResult, ForwardRunner, Known } from "./forward-runner.ts";

/** Tasks of which none needs another, to be run by several threads, each with a copy of this. */
export interface Round {
  readonly tasks: readonly ForwardTask[];
  readonly known: Known;
  /** Shared by the threads: Int32 number of the next task that nobody has taken. */
  readonly next: SharedArrayBuffer;
}

/** Takes tasks until none is left. @returns results by the tasks' numbers */
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
    Atomics.store(counter, 0, tasks.length); // all is lost: nobody need do the others
    throw error;
  }
}
